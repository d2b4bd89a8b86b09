/*
 * Strategy `dpor`: every order of dependent ops once, and no other run.
 *
 * Abdulla, Aronis, Jonsson, Sagonas, "Optimal Dynamic Partial Order Reduction", POPL 2014 (journal:
 * "Source Sets", JACM 64:4, 2017), algorithm 2 with wakeup trees. The search is depth-first over
 * complete runs. A race consists of two dependent ops of different threads that nothing orders. For
 * each race of a run, the other order is inserted into the wakeup tree of the step where this order
 * has to begin. An order that the sleep set of that step covers is not inserted. When no race is
 * left, all Mazurkiewicz traces have been run.
 *
 * Deviations from the paper:
 * - A settled race (dpor_reverse_races) is not examined again in later runs that contain it.
 * - Two learning runs first record the objects for which threads race (dpor_somebody_awake()). The
 *   second one prefers the thread that was created last, which shows further objects.
 * - Ops independent of a wakeup tree may be performed before it: see dpor_bystander().
 * - Threads that disable each other (section 10 of the journal version): a release of a lock and
 *   the next acquisition have only one order, and the race is between the two acquisitions. A branch
 *   to a thread that is not enabled is dropped.
 * - Value choices (the waiter that a signal wakes) are branches that are all explored.
 * - The read of a waiting loop is a wait for a value (docs/decisions/0032-waiting-loops.md).
 * - Fairness may delay threads that only spin: orders that differ in the number of iterations of a
 *   spin loop are not all explored. Orders that only virtual time decides are not all explored either.
 */
#include "strategies/dpor/dpor.h"

#include "model/view.h"
#include "strategies/strategy.h"

#define STEPS_STANDARD 65536

static const struct strategy_option dpor_options[] = {
	{"steps", STEPS_STANDARD, 64, 1 << 20,
		"steps of the longest run, about 1 kB each; for longer runs there is no verdict",
		NULL},
	{"symmetry", 0, 0, 1,
		"on: orders that only exchange interchangeable threads count as one; off by default, "
		"because some ways to tell threads apart are not seen",
		(const char *const[]){"off", "on", NULL}},
	{0},
};

static size_t dpor_state_bytes(const struct strategy_config *config)
{
	struct dpor dpor;

	return dpor_lay_out(config, &dpor);
}

static void dpor_begin_campaign(void *state, const struct strategy_config *config)
{
	struct dpor *dpor = state;

	(void)dpor_lay_out(config, dpor);
	dpor->branch_free = dpor->open = DPOR_NONE;
}

static void dpor_begin_run(void *state, uint64_t seed)
{
	struct dpor *dpor = state;

	(void)seed; /* the strategy makes no random choices */
	dpor->depth = dpor->value_steps = 0;
	dpor->known = 0;
	dpor->is_straight = true;
	dpor->contended = 0;
	dpor->is_blocked = dpor->has_diverged = dpor->is_impossible = false;
	dpor->left_slots = dpor->left_enabled = 0;
	for (uint32_t i = 0; i < DPOR_THREADS; i++) {
		dpor->index_of[i] = UINT16_MAX;
		dpor->last_step[i] = DPOR_NONE;
		dpor->creation[i] = DPOR_NONE;
		dpor->buffer_of[i] = 0;
	}
	for (uint32_t i = 0; i < DPOR_BUCKETS; i++)
		dpor->last_in_bucket[i] = DPOR_NONE;
	dpor->last_wide = DPOR_NONE;
	dpor->aimed_count = 0;
	dpor->is_view_observed = false;
	dpor_share_begin_run(dpor);
}

/* The search no longer controls this run, which continues with default choices. */
static bool dpor_has_lost_control(const struct dpor *dpor)
{
	return dpor->is_blocked || dpor->has_diverged || dpor->is_lost || dpor->is_exhausted;
}

static uint32_t dpor_repeat_prefix(void *state, uint64_t seed)
{
	struct dpor *dpor = state;
	const uint32_t from = dpor->first_new;

	if (dpor_has_lost_control(dpor) || from >= dpor->depth) {
		dpor_begin_run(state, seed);
		return 0;
	}
	while (dpor->depth > from) {
		const struct dpor_step *step = &dpor_steps(dpor)[--dpor->depth];

		if (step->is_value) {
			dpor->value_steps--;
			continue;
		}
		dpor->last_step[step->op.thread] = step->previous;
		dpor_share_strike(dpor, step);
		dpor_strike(dpor, dpor->depth);
	}
	while (dpor->known && dpor->creation[dpor_slot_of(dpor, dpor->known - 1)] != DPOR_NONE &&
		dpor->creation[dpor_slot_of(dpor, dpor->known - 1)] >= from)
		dpor_forget_thread(dpor);
	dpor->left_slots = dpor->left_enabled = 0;
	dpor->contended = 0;
	dpor->is_view_observed = false;
	dpor_share_begin_run(dpor);
	return from;
}

static bool dpor_is_same_op(const struct dpor_op *a, const struct dpor_op *b)
{
	return a->object == b->object && a->kind == b->kind && a->thread == b->thread;
}

/*
 * Branches have no values. A thread whose earlier choice had another value in the run that found the
 * branch may be about to execute another op, or none. The search explores each value without the
 * branches behind the choice, so it does not need this branch.
 */
static bool dpor_is_dead_branch(
	const struct dpor *dpor, const struct schedule_view *view, const struct dpor_branch *branch)
{
	const struct dpor_op *op = &branch->op;
	struct dpor_op pending;

	if (!dpor_can_move(dpor, view, op->thread))
		return true;
	if (!dpor->value_steps)
		return false;
	pending = dpor_op_of(dpor, view, dpor->index_of[op->thread]);
	return !dpor_is_same_op(&pending, op);
}

static void dpor_drop_dead_branches(
	struct dpor *dpor, struct dpor_step *step, const struct schedule_view *view)
{
	while (step->wakeup != DPOR_NONE &&
		dpor_is_dead_branch(dpor, view, &dpor_branches(dpor)[step->wakeup])) {
		const uint32_t dead = step->wakeup;

		dpor->is_impossible |= dpor_branches(dpor)[dead].op.is_doubtful;
		step->wakeup = dpor_branches(dpor)[dead].sibling;
		dpor_branch_free(dpor, dead);
	}
	dpor->is_impossible &= step->wakeup == DPOR_NONE;
	dpor->is_blocked |= dpor->is_impossible;
}

static void dpor_put_before(
	struct dpor *dpor, struct dpor_step *step, const struct schedule_view *view, uint32_t index)
{
	const struct dpor_op op = dpor_op_of(dpor, view, index);
	const uint32_t branch = dpor_branch_new(dpor, &op);

	if (branch == DPOR_NONE)
		return;
	dpor_branches(dpor)[branch].child = step->wakeup;
	step->wakeup = branch;
}

static struct thread_id dpor_choose_new(struct dpor *dpor, const struct schedule_view *view)
{
	struct dpor_step *step = dpor_push_step(dpor);
	struct dpor_op op;
	uint32_t index;

	if (!step)
		return view_default(view);
	if (step->wakeup != DPOR_NONE)
		dpor_drop_dead_branches(dpor, step, view);
	if (dpor->is_blocked)
		return view_default(view);
	if (step->wakeup == DPOR_NONE) {
		dpor_arrive(dpor);
		index = dpor_somebody_awake(dpor, step, view);
		if (index == DPOR_NONE && dpor->share.held && !dpor_enabled_slots(dpor, view)) {
			dpor_note_left(dpor, view);
			if (dpor->symmetry.is_wanted)
				dpor_symmetry_hold_up(dpor, view);
			dpor_share_hold_up(dpor);
		}
		if (index == DPOR_NONE) {
			dpor->is_blocked = true;
			return view_default(view);
		}
		op = dpor_op_of(dpor, view, index);
		step->wakeup = dpor_branch_new(dpor, &op);
		return (struct thread_id){(uint16_t)index};
	}
	/* The owner may add to the tree until a task reaches its base. */
	index = dpor->task && !dpor->is_exact && !dpor->has_arrived
			? DPOR_NONE
			: dpor_bystander(dpor, step, view);
	if (index != DPOR_NONE)
		dpor_put_before(dpor, step, view, index);
	return (struct thread_id){dpor->index_of[dpor_branches(dpor)[step->wakeup].op.thread]};
}

/* Chooses at a step of earlier runs; the last such step uses a branch for the first time. */
static struct thread_id dpor_choose_prefix(struct dpor *dpor, const struct schedule_view *view)
{
	struct dpor_step *step = &dpor_steps(dpor)[dpor->depth];

	if (!step->is_value && dpor->depth + 1 == dpor->step_count)
		dpor_drop_dead_branches(dpor, step, view);
	if (!step->is_value && step->wakeup == DPOR_NONE)
		dpor->is_blocked = true;
	else if (step->is_value ||
		 !dpor_can_move(dpor, view, dpor_branches(dpor)[step->wakeup].op.thread))
		dpor->has_diverged = true;
	if (dpor_has_lost_control(dpor))
		return view_default(view);
	return (struct thread_id){dpor->index_of[dpor_branches(dpor)[step->wakeup].op.thread]};
}

static inline void dpor_observe_view(struct dpor *dpor, const struct schedule_view *view)
{
	dpor_add_threads(dpor, view);
	if (dpor->share.pair_count)
		dpor_share_look(dpor, view);
}

/* Main while it is enabled, so that it creates the others; then the enabled thread created last. */
static struct thread_id dpor_newest_enabled(const struct schedule_view *view)
{
	uint32_t index = view_is_enabled(view, 0) ? 0 : view->thread_count - 1;

	while (!view_is_enabled(view, index))
		index--;
	return (struct thread_id){(uint16_t)index};
}

static struct thread_id dpor_choose(void *state, const struct schedule_view *view)
{
	struct dpor *dpor = state;

	dpor_observe_view(dpor, view);
	dpor->is_view_observed = true;
	if (dpor_has_lost_control(dpor))
		return view_default(view);
	if (dpor->lessons == DPOR_LESSON_LATEST)
		return dpor_newest_enabled(view);
	return dpor->depth < dpor->step_count ? dpor_choose_prefix(dpor, view)
					      : dpor_choose_new(dpor, view);
}

static void dpor_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct dpor *dpor = state;
	struct dpor_step *step;
	struct dpor_op op;

	if (!dpor->is_view_observed)
		dpor_observe_view(dpor, view);
	dpor->is_view_observed = false;
	if (dpor_has_lost_control(dpor))
		return;
	if (dpor->depth == dpor->step_count && !dpor_push_step(dpor))
		return;
	step = &dpor_steps(dpor)[dpor->depth];
	op = dpor_op_of(dpor, view, thread.index);
	if (step->wakeup == DPOR_NONE)
		step->wakeup = dpor_branch_new(dpor, &op);
	/* A repeated step must have its earlier op, and a branch must lead to its own op. */
	if ((dpor->depth < dpor->first_new && !dpor_is_same_op(&step->op, &op)) ||
		(step->wakeup != DPOR_NONE &&
			!dpor_is_same_op(&dpor_branches(dpor)[step->wakeup].op, &op))) {
		dpor->has_diverged = true;
		return;
	}
	if (dpor->symmetry.is_wanted && dpor->depth >= dpor->first_new)
		dpor_symmetry_note(dpor, view, thread.index, &op);
	step->op = op;
	step->enabled = dpor_enabled_slots(dpor, view);
	step->previous = dpor->last_step[op.thread];
	step->enabler = dpor_enabler(dpor, &op);
	step->ordinal =
		step->previous == DPOR_NONE ? 1 : dpor_steps(dpor)[step->previous].ordinal + 1;
	dpor->last_step[op.thread] = dpor->depth;
	if (dpor->share.pair_count)
		dpor_share_note(dpor, step);
	if (dpor->contended)
		dpor_note_moved(dpor, &op);
	dpor_enlist(dpor, dpor->depth);
	if (dpor->depth >= dpor->first_new)
		dpor_note_step(dpor, dpor->depth);
	dpor->depth++;
}

static void dpor_ending(void *state, const struct schedule_view *view)
{
	struct dpor *dpor = state;

	dpor_observe_view(dpor, view);
	if (dpor->symmetry.is_wanted && !dpor_has_lost_control(dpor))
		dpor_symmetry_end(dpor, view);
	if (!dpor->share.is_held_up) /* dpor_note_left() was called already if the run is held up */
		dpor_note_left(dpor, view);
}

static uint32_t dpor_choose_value(void *state, uint32_t count)
{
	struct dpor *dpor = state;
	struct dpor_step *step;

	if (dpor_has_lost_control(dpor))
		return 0;
	if (dpor->depth == dpor->step_count) {
		step = dpor_push_step(dpor);
		if (!step)
			return 0;
		step->is_value = true;
		step->value_count = count;
	}
	step = &dpor_steps(dpor)[dpor->depth];
	if (!step->is_value || step->value_count != count) {
		dpor->has_diverged = true;
		return 0;
	}
	dpor->depth++;
	dpor->value_steps++;
	return step->value;
}

void dpor_forget(struct dpor *dpor)
{
	dpor->step_count = dpor->first_new = 0;
	dpor->branch_free = dpor->open = DPOR_NONE;
	dpor->branch_used = dpor->sleeper_used = 0;
}

static void dpor_begin_search(struct dpor *dpor)
{
	dpor_forget(dpor);
	dpor->runs = dpor->blocked_runs = dpor->diverged_runs = 0;
	if (dpor->lessons < DPOR_LESSONS)
		return;
	dpor->share.pair_count = dpor->share.fixed_count;
	if (dpor->share.shards)
		dpor_share_begin(dpor);
}

/* A run distinguished interchangeable threads. A task ends: its owner makes the task's runs itself. */
static void dpor_begin_without_symmetry(struct dpor *dpor)
{
	dpor_symmetry_drop(dpor);
	if (dpor->share.shards)
		memcpy(dpor->racy, dpor->share.taught, sizeof dpor->racy);
	if (dpor->task)
		dpor->is_lost = true;
	else
		dpor_begin_search(dpor);
}

static void dpor_restart_search(struct dpor *dpor)
{
	const uint32_t last = dpor->last_step[0];
	const uint32_t ops = last == DPOR_NONE ? 0 : dpor_steps(dpor)[last].ordinal;

	if (!dpor->lessons++ || dpor->main_ops > ops)
		dpor->main_ops = ops;
	dpor_symmetry_learn(dpor);
	dpor_begin_search(dpor);
}

static void dpor_observe(void *state)
{
	dpor_begin_run(state, 0);
	((struct dpor *)state)->is_observing = true;
}

/* A run whose choices another strategy made replaces the learning runs. The search has not begun. */
static void dpor_end_observed(struct dpor *dpor)
{
	if (!dpor->has_diverged && !dpor->is_lost)
		dpor_reverse_races(dpor);
	dpor->is_observing = dpor->is_lost = dpor->is_exhausted = false;
	dpor_restart_search(dpor);
	dpor->lessons = DPOR_LESSONS;
}

void dpor_begin_alone(struct dpor *dpor)
{
	if (!dpor->is_lost || !dpor->has_merged || dpor->task)
		return;
	dpor->is_alone = true;
	dpor->is_lost = dpor->has_merged = dpor->is_exhausted = false;
	dpor->awaited = 0;
	dpor_begin_search(dpor);
}

static void dpor_end_search_run(struct dpor *dpor, const struct run_summary *summary)
{
	if (dpor->is_exhausted || dpor->is_lost || summary->outcome == OUTCOME_TAINTED)
		return; /* a run that proves nothing is repeated */
	if (dpor->lessons == DPOR_LESSONS && dpor_symmetry_is_violated(dpor)) {
		dpor_begin_without_symmetry(dpor);
		return;
	}
	if (dpor->share.is_scouting) {
		dpor_share_scouted(dpor);
		return;
	}
	dpor->runs++;
	dpor->blocked_runs += dpor_share_is_redundant(dpor);
	dpor->diverged_runs += dpor->has_diverged;
	if ((!dpor->is_blocked || dpor->share.is_held_up) && !dpor->has_diverged)
		dpor_reverse_races(dpor);
	dpor_back_up(dpor);
	if (dpor->lessons >= DPOR_LESSONS || dpor->is_lost)
		return;
	/* If only the second learning run has no races, the program varies; this proves nothing. */
	if (dpor->is_exhausted && dpor->lessons != DPOR_LESSON_LATEST) {
		dpor->runs -= dpor->share.shard > 1; /* shard 1 counts this run */
		return;
	}
	dpor->is_exhausted = false;
	dpor_restart_search(dpor);
}

static void dpor_end_run(void *state, const struct run_summary *summary)
{
	struct dpor *dpor = state;

	if (dpor->is_observing)
		dpor_end_observed(dpor);
	else
		dpor_end_search_run(dpor, summary);
	dpor_begin_alone(dpor);
}

static bool dpor_is_elsewhere(const void *state)
{
	return ((const struct dpor *)state)->share.is_elsewhere;
}

/* A search that has exceeded its memory or another limit (is_lost) ends, too: it knows no new schedule, so all its
 * further runs would be the same. */
static bool dpor_is_exhausted(const void *state)
{
	const struct dpor *dpor = state;

	return dpor->is_exhausted || dpor->is_lost;
}

static void dpor_verdict(const void *state, struct strategy_verdict *out)
{
	const struct dpor *dpor = state;

	out->is_complete = dpor->is_exhausted && !dpor->is_lost && !dpor->diverged_runs;
	out->is_up_to_order = true;
	out->runs = dpor->runs;
	out->redundant = dpor->blocked_runs;
	out->scope[0] = '\0';
	out->plans[0] = dpor->share.plan;
	dpor_symmetry_verdict(dpor, out);
	out->missing =
		dpor->is_lost
			? "the memory of dpor (option steps) or its 64 threads did not suffice"
		: dpor->diverged_runs ? STRATEGY_PROGRAM_VARIES
				      : NULL;
}

const struct strategy strategy_dpor = {
	.name = "dpor",
	.summary = "exhaustive: runs every order of dependent ops exactly once",
	.options = dpor_options,
	.state_bytes_for = dpor_state_bytes,
	.begin_campaign = dpor_begin_campaign,
	.begin_run = dpor_begin_run,
	.choose = dpor_choose,
	.executed = dpor_executed,
	.ending = dpor_ending,
	.choose_value = dpor_choose_value,
	.end_run = dpor_end_run,
	.learning = {.observe = dpor_observe},
	.search = {.is_exhausted = dpor_is_exhausted,
		.is_valid = dpor_is_valid,
		.verdict = dpor_verdict,
		.is_elsewhere = dpor_is_elsewhere,
		.tasks = &dpor_tasks},
	.fast_path = {.repeat_prefix = dpor_repeat_prefix},
};
