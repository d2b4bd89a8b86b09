/*
 * Strategy `bounded`: systematic testing with variable, thread and context bounds.
 *
 * Bindal, Bansal, Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded
 * Programs", 2012, sections 2, 4 and 5 (algorithm 1). The standard schedule of a thread order lets
 * the highest enabled thread move. At an access to one of v variables, that thread may get another
 * priority, at most c times. The strategy runs all placements for all variables, those with fewer
 * changes first. The thread orders contain every order of t threads (lemma 4.1). Then v and t grow.
 *
 * Deviations from the paper:
 * - The paper processes one set of v variables after the other, and repeats runs that sets share.
 *   Here each run is made once, and its changes determine its variables (run_tree.h).
 * - Changes are made only at variables that two threads have used, including synchronisation
 *   objects.
 * - A change after which the thread is still the highest is omitted.
 * - The paper counts a stopped thread as another one (a fragment) behind each stop, with a random
 *   new position: it covers orders of t fragments. Here all positions are explored, and only the order of
 *   whole threads is random (docs/strategies.md).
 * - Four fixed orders are first, among them the order of creation and its reverse, which suffice
 *   for t = 2.
 * - Among equivalent runs only the first is extended. Equivalent runs have the same variables,
 * happens-before graph, final order of threads and point that the last stop passed. The paper
 * requires only the same variables and graph. That rule loses schedules within the bounds, because
 * such runs can continue differently (tests/unit/strategies/search/test_bounded_orders.c).
 */
#include "strategies/search/bounded.h"

#include <stddef.h>
#include <string.h>

#include "base/bitset.h"
#include "base/text.h"
#include "strategies/search/bounded_internal.h"
#include "strategies/step_print.h"

#define RUNS_STANDARD (1 << 18) /* number of runs with fewer than c changes */
/* After this many yields a thread gets the lowest priority, as in the paper. */
#define YIELDS_BEFORE_LAST 100
#define YIELDS_LOWER_MOST 999

static size_t bounded_seen_offset(const struct strategy_config *config)
{
	const size_t bytes = offsetof(struct bounded, tree) +
			     run_tree_bytes((uint32_t)config->option[OPTION_RUNS]);

	return (bytes + 7) & ~(size_t)7;
}

static size_t bounded_state_bytes(const struct strategy_config *config)
{
	return bounded_seen_offset(config) +
	       hash_set_slots((uint64_t)config->option[OPTION_RUNS]) * sizeof(uint64_t);
}

static void bounded_begin_campaign(void *state, const struct strategy_config *config)
{
	struct bounded *bounded = state;

	bounded->config = *config;
	bounded->seen.distance = bounded_seen_offset(config) - offsetof(struct bounded, seen);
	bounded->seen.mask = hash_set_slots((uint64_t)config->option[OPTION_RUNS]) - 1;
	bounded->changes = config->option[OPTION_CHANGES] < 0
				   ? CHANGES_FIRST
				   : (uint32_t)config->option[OPTION_CHANGES];
	if (config->shards > 1) {
		bounded->tree.shard = config->shard;
		bounded->tree.shards = config->shards;
	}
	bounded_begin_walk(bounded);
}

static bool bounded_is_valid(void *state, const struct strategy_config *config)
{
	struct bounded *bounded = state;
	const struct shared_variables *shared = &bounded->shared;
	const uint64_t slots = hash_set_slots((uint64_t)config->option[OPTION_RUNS]);
	const bool *const flags[] = {&bounded->has_learnt, &bounded->is_exhausted,
		&bounded->is_lost, &bounded->has_paused, &bounded->has_focus,
		&bounded->is_elsewhere, &bounded->is_focused, &bounded->needs_all};

	for (uint32_t i = 0; i < sizeof flags / sizeof *flags; i++)
		if (!strategy_is_flag(flags[i]))
			return false;
	if (memcmp(bounded->config.option, config->option, sizeof config->option) != 0 ||
		bounded->seen.distance !=
			bounded_seen_offset(config) - offsetof(struct bounded, seen) ||
		bounded->seen.mask != slots - 1 || bounded->seen.count > slots / 2 + 1 ||
		2 * (uint64_t)bounded->noted_count > slots || (uint32_t)bounded->pass > PASS_ALL ||
		bounded->changes > CHANGES_MOST || bounded->variables > BOUNDS_SUM_MOST ||
		bounded->threads < 2 || bounded->threads > BOUNDS_SUM_MOST ||
		bounded->variables + bounded->threads > BOUNDS_SUM_MOST + 1 ||
		bounded->tree.shards != (config->shards > 1 ? config->shards : 0) ||
		(bounded->tree.shards && bounded->tree.shard != config->shard) ||
		bounded->threads_most > THREAD_CAPACITY ||
		shared->shared_count > shared->objects.count)
		return false;
	return key_table_is_valid(&bounded->names) && key_table_is_valid(&shared->objects) &&
	       key_table_is_valid(&shared->thread_names) &&
	       run_tree_is_valid(&bounded->tree, (uint32_t)config->option[OPTION_RUNS]);
}

/* Returns the objects of the run's changes if the run cannot be extended; 0 if all accesses are
 * needed. */
static uint32_t bounded_find_focus(struct bounded *bounded, object_name *objects, uint32_t capacity)
{
	uint16_t set[RUN_TREE_DEVIATIONS_MOST];
	uint32_t count;

	if (!bounded->has_learnt || bounded->is_exhausted || bounded->has_paused ||
		bounded->needs_all)
		return 0;
	count = run_tree_last_set(&bounded->tree, set);
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t key = bounded->shared.objects.keys[set[i]];

		if (i == capacity || key != (object_name)key) /* an array has no object name */
			return 0;
		objects[i] = (object_name)key;
	}
	return count;
}

static uint32_t bounded_focus(void *state, uint64_t seed, object_name *objects, uint32_t capacity)
{
	struct bounded *bounded = state;

	(void)seed;
	bounded->has_focus = true;
	return bounded_find_focus(bounded, objects, capacity);
}

static void bounded_begin_run(void *state, uint64_t seed)
{
	struct bounded *bounded = state;
	object_name objects[RUN_TREE_DEVIATIONS_MOST];

	if (!bounded->runs) /* one seed for all runs: an order is identified by its number */
		bounded->seed = bounded->tree.shards ? bounded->config.seed : seed;
	/* Must not depend on the process that makes the run; does not affect later runs. */
	bounded->is_focused = bounded->has_focus &&
			      bounded_find_focus(bounded, objects, RUN_TREE_DEVIATIONS_MOST);
	bounded->priorities.known = 0;
	for (uint32_t i = 0; i < BITSET_WORDS(bounded->names.count); i++)
		bounded->present[i] = 0;
	bounded->changes_made = bounded->lowered = 0;
	bounded->passed = 0;
	order_hash_begin(&bounded->graph);
	commuting_begin_run(&bounded->commuting);
	run_tree_begin_run(&bounded->tree, bounded->is_focused);
	bounded->is_elsewhere = run_tree_is_elsewhere(&bounded->tree);
	/* Programs mostly follow the order of creation by themselves: another order is first. */
	bounded->order = bounded->has_learnt && !bounded->is_exhausted
				 ? run_tree_order(&bounded->tree)
				 : THREAD_ORDER_REVERSE;
	bounded->order_seed = hash_pair(bounded->seed, bounded->order);
}

static void bounded_add_threads(struct bounded *bounded, const struct schedule_view *view)
{
	struct priority_table *table = &bounded->priorities;

	for (; table->known < view->thread_count; table->known++) {
		const thread_name name = view->names[table->known];
		uint32_t number = key_table_add(&bounded->names, name);

		if (number == KEY_TABLE_NONE)
			number = KEY_TABLE_CAPACITY - 1; /* further names share the last number */
		bitset_add(bounded->present, number);
		table->priority[table->known] = bounded_initial_priority(bounded, number, name);
		bounded->yields[table->known] = 0;
	}
}

static bool bounded_is_stopped(
	struct bounded *bounded, const struct schedule_view *view, uint32_t thread, uint32_t next)
{
	const uint32_t object =
		shared_variables_number(&bounded->shared, view, &view->pending[thread]);
	uint32_t positions;

	if (object == KEY_TABLE_NONE)
		return false;
	positions = bounded_count_positions(bounded, view, thread, next);
	if (run_tree_at(&bounded->tree, object, positions, step_print(view, thread)))
		return true;
	commuting_point(&bounded->commuting, object, run_tree_last_ordinal(&bounded->tree, object));
	return false;
}

/*
 * Returns a hash of the point at which the thread moves after a stop; 0 if no stop is possible
 * there. This point is not checked for a stop: a run that differs only in where it stops has
 * the point behind its last stop.
 */
static uint64_t bounded_passed_point(
	const struct bounded *bounded, const struct schedule_view *view, uint32_t next)
{
	const bool has_moved = next < bounded->graph.known;

	if (!shared_variables_has(&view->pending[next]))
		return 0;
	return hash_pair(view->names[next], has_moved ? bounded->graph.thread[next] : 0);
}

static struct thread_id bounded_choose(void *state, const struct schedule_view *view)
{
	struct bounded *bounded = state;
	struct priority_table *table = &bounded->priorities;
	uint64_t old;
	uint32_t highest, next;

	bounded_add_threads(bounded, view);
	highest = priority_table_highest(table, view);
	if (view->enabled_count == 1 || !shared_variables_has(&view->pending[highest]))
		return (struct thread_id){(uint16_t)highest};
	old = table->priority[highest];
	table->priority[highest] = bounded_position(bounded, view, highest, highest, 0);
	next = priority_table_highest(table, view);
	if (next == highest || !bounded_is_stopped(bounded, view, highest, next)) {
		table->priority[highest] = old;
		return (struct thread_id){(uint16_t)highest};
	}
	table->priority[highest] =
		bounded_position(bounded, view, highest, next, run_tree_position(&bounded->tree));
	bounded->changes_made++;
	if (run_tree_is_past(&bounded->tree)) {
		commuting_stop(&bounded->commuting, (struct thread_id){(uint16_t)highest});
		bounded->passed = bounded_passed_point(bounded, view, next);
	}
	return (struct thread_id){(uint16_t)next};
}

/* Notes a yield. A thread that yields repeatedly waits for another one: it gets the lowest priority
 * (section 5). */
static void bounded_note_yield(struct bounded *bounded, uint32_t thread)
{
	if (++bounded->yields[thread] <= YIELDS_BEFORE_LAST)
		return;
	bounded->yields[thread] = 0;
	if (bounded->lowered < YIELDS_LOWER_MOST)
		bounded->lowered++;
	bounded->priorities.priority[thread] =
		BOUNDED_YIELDED - bounded->lowered * THREAD_ORDER_STEP;
}

static void bounded_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct bounded *bounded = state;

	order_hash_add(&bounded->graph, view, thread);
	/* Focused runs do not see other variables, and have more steps (OP_AFTER_ENABLE). */
	if (op_descriptions[view->pending[thread.index].kind].object != OBJECT_MEMORY &&
		view->pending[thread.index].kind != OP_AFTER_ENABLE)
		run_tree_note(&bounded->tree, step_print(view, thread.index));
	commuting_executed(&bounded->commuting, view, thread);
	bounded->has_paused |= (view->pending[thread.index].flags & OP_PAUSE) != 0;
	if (view->pending[thread.index].flags & OP_PAUSE)
		bounded_note_yield(bounded, thread.index);
	shared_variables_learn(&bounded->shared, view, thread);
}

static uint32_t bounded_choose_value(void *state, uint32_t count)
{
	struct bounded *bounded = state;
	uint32_t value = 0;

	if (count > 1 && bounded->has_learnt && !bounded->is_exhausted)
		value = run_tree_value(&bounded->tree, count);
	order_hash_add_value(&bounded->graph, value);
	return value;
}

/* Returns the key of equivalent runs, which would also continue equally. */
static uint64_t bounded_hash_graph(const struct bounded *bounded)
{
	uint64_t key = hash_pair(bounded->graph.value, bounded->changes_made);
	uint16_t set[RUN_TREE_DEVIATIONS_MOST];
	const uint32_t count = run_tree_set(&bounded->tree, set);

	for (uint32_t i = 0; i < count; i++)
		key = hash_pair(key, set[i]);
	if (bounded_option_of(bounded, OPTION_PRUNING) == PRUNING_STATES)
		key = hash_pair(hash_pair(key, bounded->passed), bounded_hash_order(bounded));
	return key;
}

/* Ends a run in the tree. A run that is equivalent to an earlier one, perhaps of another thread
 * order, gets no children. The earlier order is always explored within the same bounds: t grows for
 * each v, and the orders of a larger t include those of a smaller one. */
static void bounded_end_in_tree(struct bounded *bounded)
{
	const bool is_pruned = bounded_option_of(bounded, OPTION_PRUNING) != PRUNING_NONE;
	const uint64_t key = is_pruned ? bounded_hash_graph(bounded) : 0;
	const uint32_t before = bounded->tree.node_count;
	const bool is_new = bounded->task || !is_pruned || hash_set_add(&bounded->seen, key);

	run_tree_end_run(&bounded->tree, is_new, bounded->shared.variable);
	if (bounded->task && is_pruned)
		bounded_note_run(bounded, key, run_tree_last_node(&bounded->tree, before));
}

/* Stops that would have made the same run, up to the order of independent ops. */
static void bounded_note_same(struct bounded *bounded)
{
	const struct commuting *commuting = &bounded->commuting;

	for (uint32_t i = commuting_first_same(commuting); i < commuting->count; i++)
		if (commuting->stretch[i].variable != COMMUTING_NO_POINT)
			run_tree_note_same(&bounded->tree, commuting->stretch[i].variable,
				commuting->stretch[i].ordinal);
}

static void bounded_end_run(void *state, const struct run_summary *summary)
{
	struct bounded *bounded = state;

	if (bounded->is_exhausted)
		return;
	if (summary->outcome == OUTCOME_TAINTED) { /* the run proves nothing and is repeated */
		run_tree_drop_run(&bounded->tree);
		return;
	}
	/*
	 * A thread at OP_AFTER_ENABLE is enabled, but its next op may not be. The points can then differ
	 * from those of the run whose prefix this run should repeat.
	 */
	bounded->needs_all = bounded->is_focused && run_tree_has_strayed(&bounded->tree);
	if (bounded->needs_all) {
		run_tree_drop_run(&bounded->tree);
		return;
	}
	bounded->runs++;
	bounded->runs_elsewhere += bounded->is_elsewhere;
	if (summary->thread_count > bounded->threads_most)
		bounded->threads_most = summary->thread_count;
	if (bounded->has_learnt) {
		/* Unknown for a focused run, which has fewer scheduling points. */
		if (bounded_option_of(bounded, OPTION_PRUNING) != PRUNING_NONE &&
			!bounded->is_focused)
			bounded_note_same(bounded);
		bounded_end_in_tree(bounded);
		if (!bounded->task)
			bounded_watch_variables(bounded);
		bounded->is_lost |= bounded->tree.is_lost;
		bounded->is_exhausted = bounded->is_lost;
	}
	bounded->has_learnt = true;
	if (bounded->task)
		bounded->is_exhausted |= bounded->tree.is_done;
	else
		bounded_advance(bounded);
}

struct bounded_run bounded_last_run(const void *state)
{
	const struct bounded *bounded = state;
	uint16_t set[RUN_TREE_DEVIATIONS_MOST];

	return (struct bounded_run){run_tree_changes(&bounded->tree),
		run_tree_set(&bounded->tree, set), bounded->threads};
}

static bool bounded_is_elsewhere(const void *state)
{
	return ((const struct bounded *)state)->is_elsewhere;
}

static bool bounded_is_exhausted(const void *state)
{
	return ((const struct bounded *)state)->is_exhausted;
}

static void bounded_add_bound(struct text *text, const char *name, uint32_t bound)
{
	text_add(text, name);
	text_add(text, " ≤ ");
	text_number(text, bound);
}

static void bounded_verdict(const void *state, struct strategy_verdict *out)
{
	const struct bounded *bounded = state;
	const bool has_diverged = bounded->diverged_runs || bounded->tree.diverged_runs ||
				  (bounded->tree.varied_runs && !bounded_has_learnt_more(bounded));
	struct text text;

	text_init(&text, out->refusal, sizeof out->refusal);
	if (bounded_is_short_of_variables(bounded) && !bounded->shared.shared_count) {
		text_add(&text,
			"threads share no variable at which raddle could preempt one; build the program with raddle-cc, so that raddle sees memory accesses");
	} else if (bounded_is_short_of_variables(bounded)) {
		text_add(&text, "threads share ");
		text_number(&text, bounded->shared.shared_count);
		text_add(&text, bounded->shared.shared_count == 1 ? " variable" : " variables");
		text_add(&text, ", fewer than v; give a smaller v");
	}
	text_init(&text, out->scope, sizeof out->scope);
	out->runs = bounded->runs - bounded->runs_elsewhere;
	out->scope_order = bounded->ends;
	for (uint32_t i = 0; i < STRATEGY_PLANS; i++)
		out->plans[i] = bounded->plans[i];
	out->redundant = 0;
	out->is_up_to_order = true;
	out->missing = bounded->is_lost ? "there are more of them than option runs allows"
		       : has_diverged	? STRATEGY_PROGRAM_VARIES
					: NULL;
	out->is_complete = bounded->is_exhausted && !out->missing && !out->refusal[0];
	if (!bounded->done_variables || out->missing)
		return;
	bounded_add_bound(&text, "with c", bounded->done_changes);
	bounded_add_bound(&text, ", v", bounded->done_variables);
	bounded_add_bound(&text, ", t", bounded->done_threads);
	if (bounded_option_of(bounded, OPTION_LOOPS))
		bounded_add_bound(&text, ", l", bounded_option_of(bounded, OPTION_LOOPS));
	out->missed = bounded->done_threads > 2 && bounded->threads_most > 2;
	for (uint32_t i = 0; i < bounded_option_of(bounded, OPTION_RISK); i++)
		out->missed /= 10;
}

static const char *const pruning_words[] = {"states", "graphs", "none", NULL};

static const struct strategy_option bounded_options[] = {
	{"preemptions", -1, 0, CHANGES_MOST,
		"c: changes of priority in a run (2, then more); most known bugs need at most 2",
		NULL},
	{"variables", 0, 1, VARIABLES_MOST,
		"v: number of variables with preemptions (1, then more)", NULL},
	{"threads", 0, 2, THREAD_ORDERS_MOST, "t: number of threads in one order (2, then more)",
		NULL},
	{"risk", 6, 1, 12, "an order of t threads is missed with probability below 10^-risk", NULL},
	{"runs", RUNS_STANDARD, 1024, 1 << 26,
		"number of runs that later runs may extend, about 300 bytes each", NULL},
	{"loops", 0, 1, 255,
		"l: of the blocks that one call stack allocates only the first l (all, the first ones first)",
		NULL},
	{"pruning", PRUNING_STATES, 0, PRUNING_NONE,
		"runs that are not extended: none; those in the state of an earlier run (states); as in the paper, all with the graph of an earlier run, which loses schedules",
		pruning_words},
	{0},
};

const struct strategy strategy_bounded = {
	.name = "bounded",
	.summary =
		"exhaustive: all schedules with few preemptions at few variables, in orders of few threads",
	.options = bounded_options,
	.wants_heap_positions = true,
	.state_bytes_for = bounded_state_bytes,
	.begin_campaign = bounded_begin_campaign,
	.begin_run = bounded_begin_run,
	.choose = bounded_choose,
	.executed = bounded_executed,
	.choose_value = bounded_choose_value,
	.end_run = bounded_end_run,
	.search = {.is_exhausted = bounded_is_exhausted,
		.is_valid = bounded_is_valid,
		.verdict = bounded_verdict,
		.is_elsewhere = bounded_is_elsewhere,
		.tasks = &bounded_tasks},
	.fast_path = {.focus = bounded_focus},
};
