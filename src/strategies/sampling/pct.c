/*
 * Strategy `pct`: probabilistic concurrency testing.
 *
 * Burckhardt, Kothari, Musuvathi, Nagarakatte, "A Randomized Scheduler with Probabilistic
 * Guarantees of Finding Bugs", ASPLOS 2010, section 4. The enabled thread with the highest random
 * priority moves. At d-1 random change points, the priority of the thread that would move drops
 * below all others. A run shows a bug of depth d with probability at least 1/(n*k^(d-1)).
 *
 * Deviations from the paper:
 * - k counts only *contested* points (two or more enabled threads), plus one position past the end. A
 *   change elsewhere has no effect before the next contested point. Moving the change there loses
 *   no schedule and improves the bound; docs/strategies.md has the argument.
 * - A priority drops before the step at the change point, not after the previous step. The same
 *   schedules result, and a point before the first step of a thread can also be drawn.
 * - n need not be known in advance: initial priorities are independent random numbers. If two are
 *   equal (probability below 2^-40 with 4096 threads), the lower index wins.
 * - k is learnt: the first run draws no change points. Later rounds draw from the largest count of
 *   earlier runs, which shorter runs reduce slowly (run_length). The guarantee uses the largest
 *   count, which is the conservative choice.
 */
#include "base/rng.h"
#include "strategies/priority_table.h"
#include "strategies/strategy.h"

struct pct_lesson {
	uint64_t points; /* number of contested points of the run */
	uint32_t threads;
	uint32_t outcome; /* enum outcome_kind */
};

struct pct {
	struct rng rng;
	uint32_t position; /* position of the run in its round */
	uint64_t point;	   /* number of contested points passed in this run */
	uint32_t depth;
	uint32_t threads_most;
	struct run_length points; /* contested points per run, learnt */
	struct change_points changes;
	struct priority_table priorities;
	struct pct_lesson lessons[STRATEGY_ROUND_MOST]; /* lessons by position */
};

static void pct_begin_campaign(void *state, const struct strategy_config *config)
{
	struct pct *pct = state;

	pct->depth = (uint32_t)config->option[0];
}

static void pct_draw_changes(struct pct *pct)
{
	change_points_clear(&pct->changes);
	for (uint32_t i = 1; pct->points.expected && i < pct->depth; i++)
		change_points_add(
			&pct->changes, rng_below64(&pct->rng, pct->points.expected + 1), i);
}

static void pct_begin_run(void *state, uint64_t seed)
{
	struct pct *pct = state;

	rng_seed(&pct->rng, seed);
	pct->point = 0;
	priority_table_begin_run(&pct->priorities);
	pct_draw_changes(pct);
}

static struct thread_id pct_choose(void *state, const struct schedule_view *view)
{
	struct pct *pct = state;
	uint32_t chosen;

	priority_table_add_thread(&pct->priorities, &pct->rng, view);
	if (view->enabled_count == 1)
		return (struct thread_id){(uint16_t)view_next_enabled(view, 0)};
	chosen = priority_table_first(&pct->priorities, view);
	if (__builtin_expect(pct->point == pct->changes.next_point, 0)) {
		change_points_fall(&pct->changes, &pct->priorities, chosen);
		chosen = priority_table_highest(&pct->priorities, view);
	}
	pct->point++;
	return (struct thread_id){(uint16_t)chosen};
}

/* Grants a lease: the thread that moved last has the highest priority of the enabled threads. */
static uint64_t pct_lease(void *state, const struct schedule_view *view, bool is_focused)
{
	const struct pct *pct = state;

	(void)is_focused;
	return view->enabled_count == 1 ? UINT64_MAX : pct->changes.next_point - pct->point;
}

static void pct_end_lease(void *state, const struct schedule_view *view, uint64_t count)
{
	struct pct *pct = state;

	if (view->enabled_count > 1)
		pct->point += count;
}

static void pct_end_run(void *state, const struct run_summary *summary)
{
	struct pct *pct = state;

	pct->lessons[pct->position] = (struct pct_lesson){.points = pct->point,
		.threads = summary->thread_count,
		.outcome = summary->outcome};
}

static void pct_begin_position(void *state, uint32_t position)
{
	((struct pct *)state)->position = position;
}

static void pct_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct pct *from = other;
	struct pct *pct = state;

	for (uint32_t i = position; i < position + count; i++)
		pct->lessons[i] = from->lessons[i];
}

static void pct_learn(void *state, uint32_t count, uint32_t next)
{
	struct pct *pct = state;

	(void)next; /* nothing is planned */
	for (uint32_t i = 0; i < count; i++) {
		const struct pct_lesson *lesson = &pct->lessons[i];

		/* The run was cut off: its length says nothing about complete runs. */
		if (outcome_is_cut_off((enum outcome_kind)lesson->outcome))
			continue;
		if (lesson->threads > pct->threads_most)
			pct->threads_most = lesson->threads;
		run_length_learn(&pct->points, lesson->points,
			lesson->outcome == OUTCOME_PASSED || lesson->outcome == OUTCOME_EXIT);
	}
}

static void pct_share(void *state, const void *other)
{
	const struct pct *from = other;
	struct pct *pct = state;

	pct->threads_most = from->threads_most;
	pct->points = from->points;
}

static bool pct_guarantee(const void *state, struct strategy_guarantee *out)
{
	const struct pct *pct = state;
	const uint64_t positions = pct->points.most + 1;
	double probability = 1;

	*out = (struct strategy_guarantee){.depth = pct->depth,
		.threads = pct->threads_most,
		.steps = positions,
		.formula = "1/(n*k^(d-1))"};
	if (!pct->points.most)
		return false;
	for (uint32_t i = 1; i < pct->depth; i++)
		probability /= (double)positions;
	out->probability = probability / pct->threads_most;
	return true;
}

static const struct strategy_option pct_options[] = {
	{"depth", 3, 2, CHANGE_POINTS_MAX,
		"bug depth: ordering constraints that a bug may need; 3 covers most known bugs, each further one costs a factor k",
		NULL},
	{0},
};

const struct strategy strategy_pct = {
	.name = "pct",
	.summary =
		"random priorities, lowered at depth-1 random points: finds a bug of that depth with a proven probability",
	.options = pct_options,
	.state_bytes = sizeof(struct pct),
	.begin_campaign = pct_begin_campaign,
	.begin_run = pct_begin_run,
	.choose = pct_choose,
	.end_run = pct_end_run,
	.guarantee = pct_guarantee,
	.learning = {.begin_position = pct_begin_position,
		.gather = pct_gather,
		.learn = pct_learn,
		.share = pct_share},
	.fast_path = {.lease = pct_lease, .end_lease = pct_end_lease},
};
