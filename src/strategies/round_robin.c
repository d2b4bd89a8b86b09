/*
 * Strategy `round_robin`: a single schedule without chance, a control and a cheap early run. A
 * thread runs until it is not enabled, or for `steps` steps; then the next enabled thread by index
 * runs, cyclically. The number of steps doubles during the run. Otherwise threads that lock, fail to
 * lock a second object, and unlock again, as std::scoped_lock does, could repeat that in step for
 * ever. With `order=newest`, main runs whenever it is enabled, then the enabled thread
 * that was created last.
 */
#include "strategies/strategy.h"

enum round_robin_option { OPTION_STEPS, OPTION_ORDER };
enum round_robin_order { ORDER_CREATION, ORDER_NEWEST };

/* Steps of the run after which a thread runs twice as long, and the limit on such doublings. Runs of small tests are shorter. */
#define STEPS_PER_DOUBLING 1024
#define DOUBLINGS_MOST 20

struct round_robin {
	uint64_t steps; /* of a thread before the next one runs; 0: no limit */
	uint64_t made;	/* steps of the current thread since the last switch */
	enum round_robin_order order;
};

static void round_robin_begin_campaign(void *state, const struct strategy_config *config)
{
	struct round_robin *round_robin = state;

	round_robin->steps = (uint64_t)config->option[OPTION_STEPS];
	round_robin->order = (enum round_robin_order)config->option[OPTION_ORDER];
}

static void round_robin_begin_run(void *state, uint64_t seed)
{
	(void)seed; /* the strategy makes no random choices */
	((struct round_robin *)state)->made = 0;
}

static uint32_t round_robin_newest(const struct schedule_view *view)
{
	uint32_t index = view->thread_count - 1;

	if (view_is_enabled(view, 0))
		return 0;
	while (!view_is_enabled(view, index))
		index--;
	return index;
}

/* Returns whether the current thread has made its steps. */
static bool round_robin_is_over(
	const struct round_robin *round_robin, const struct schedule_view *view)
{
	const uint64_t past = view->step / STEPS_PER_DOUBLING;
	const uint64_t doublings = past < DOUBLINGS_MOST ? past : DOUBLINGS_MOST;

	return round_robin->steps && round_robin->made >= round_robin->steps << doublings;
}

static struct thread_id round_robin_choose(void *state, const struct schedule_view *view)
{
	struct round_robin *round_robin = state;
	const uint32_t current = view->current.index;
	uint32_t next;

	if (round_robin->order == ORDER_NEWEST)
		return (struct thread_id){(uint16_t)round_robin_newest(view)};
	if (current >= view->thread_count)
		return view_default(view);
	next = view_next_enabled(view, current + round_robin_is_over(round_robin, view));
	if (next == view->thread_count)
		next = view_next_enabled(view, 0);
	return (struct thread_id){(uint16_t)next};
}

static void round_robin_executed(
	void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct round_robin *round_robin = state;

	round_robin->made = thread.index == view->current.index ? round_robin->made + 1 : 1;
}

static const struct strategy_option round_robin_options[] = {
	{"steps", 0, 0, INT32_MAX,
		"steps of a thread before the next one runs, doubled after each 1,024 steps of the run; 0: until it blocks, which shows the program without preemptions",
		NULL},
	{"order", ORDER_CREATION, ORDER_CREATION, ORDER_NEWEST,
		"newest: main first, then the enabled thread that was created last, the opposite of the usual order",
		(const char *const[]){"creation", "newest", NULL}},
	{0},
};

const struct strategy strategy_round_robin = {
	.name = "round_robin",
	.summary = "no preemptions: a thread runs until it blocks, then the next one runs",
	.options = round_robin_options,
	.state_bytes = sizeof(struct round_robin),
	.begin_campaign = round_robin_begin_campaign,
	.begin_run = round_robin_begin_run,
	.choose = round_robin_choose,
	.executed = round_robin_executed,
};
