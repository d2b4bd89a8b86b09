#include "runtime/libc/child_run.h"

#include "base/hash.h"
#include "base/hot_state.h"
#include "base/text.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

STRATEGY_DECLARE(pos);

/* Number of schedules of a child per schedule of its parent: exhaustive strategies try each. */
#define CHILD_SEEDS 64

/* State of this process, written at forks. */
static HOT_STATE struct {
	uint64_t seed; /* 0 in the process that executes the run */
	uint64_t next;
	uint64_t forks;
	struct thread_id forker; /* the parent's thread that forked this process */
	uint32_t first_own;
} child;

static bool child_run_is_wanted(void)
{
	return runtime.contract && runtime.contract->plan.has_forked_children;
}

void child_run_prepare_fork(void)
{
	if (!child_run_is_wanted())
		return;
	if (!runtime.is_forked_child && !runtime.has_created)
		runtime_first_create();
	child.next =
		hash_pair(hash_pair(child.seed, child.forks++), engine_choose_value(CHILD_SEEDS));
}

void child_run_forked(void)
{
	child.seed = child.next;
	child.forks = 0;
	child.forker = engine_current()->id;
	child.first_own = engine_thread_count();
}

void child_run_begin(void)
{
	static const struct strategy_config config = {.thread_capacity = THREAD_CAPACITY};
	struct engine_run run = {.strategy = &strategy_pos};

	if (!daemon_is_current())
		runtime_note_feature(FEATURE_CHILD_THREADS);
	if (!child_run_is_wanted())
		return;
	run.strategy_state = platform_map(strategy_state_bytes(&strategy_pos, &config), false);
	if (!run.strategy_state)
		return; /* the child keeps a single schedule if memory is short */
	strategy_begin_campaign(&strategy_pos, run.strategy_state, &config);
	strategy_pos.begin_run(run.strategy_state, child.seed);
	run.seed = child.seed;
	run.random_seed = ~child.seed;
	run.step_limit = runtime.contract->plan.step_limit;
	run.has_spurious_wakeups = runtime.contract->plan.has_spurious_wakeups;
	run.tolerated = runtime.contract->plan.tolerated;
	engine_begin_run(&run);
}

struct thread_id child_run_forker(void)
{
	return child.forker;
}

uint32_t child_run_first_own(void)
{
	return child.first_own;
}

void child_run_report_death(enum outcome_kind kind, int signal, uint64_t site, uint64_t address)
{
	struct contract_child_death *death;
	uint32_t none = 0;

	if (!child_run_is_wanted())
		return;
	death = &runtime.contract->child_death;
	if (!__atomic_compare_exchange_n(
		    &death->is_taken, &none, 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return; /* only the first death is reported */
	death->signal = signal;
	death->forker = child.forker;
	death->thread = stuck_child_describe(engine_current());
	death->site = site;
	death->address = address;
	__atomic_store_n(
		&death->kind, kind, __ATOMIC_RELEASE); /* pairs with child_run_take_death */
}

void child_run_take_death(struct outcome *outcome)
{
	const struct contract_child_death *death = &runtime.contract->child_death;
	const uint32_t kind = __atomic_load_n(&death->kind, __ATOMIC_ACQUIRE);
	struct text text;

	if (outcome->kind != OUTCOME_EXIT || !kind)
		return;
	text_init(&text, outcome->text, sizeof outcome->text);
	text_add(&text, "in a forked child; the program then ended with status ");
	text_number(&text, (uint64_t)outcome->code);
	outcome->kind = (uint16_t)kind;
	outcome->code = death->signal;
	outcome->thread = stuck_children_add_thread(death->forker, &death->thread);
	outcome->site = death->site;
	outcome->address = death->address;
}
