/*
 * Strategy `bounded`: systematic testing with variable, thread and context bounds.
 *
 * Bindal, Bansal, Lal, "Variable and Thread Bounding for Systematic Testing of Multithreaded Programs",
 * 2012, sections 2, 4 and 5 (algorithm 1). In an order of the threads the standard schedule lets the
 * highest thread move; at an access to one of v variables it may get another priority, at most c
 * times. All placements are run, those with fewer changes first, for all variables and so many random
 * orders that every order of t thread fragments is among them (lemma 4.1). Then come larger v and t.
 *
 * Deviations from the paper:
 * - It takes one set of v variables after the other, and so repeats for each set what it shares with
 *   others: all runs without changes, all with changes at fewer variables. Here each run is made once;
 *   which variables it has is seen from where its changes are (run_tree.h).
 * - Only variables that two threads have used are stopped at, objects of synchronisation among them.
 * - A change after which the thread is still the highest is the standard schedule, and is left out.
 * - Four fixed orders come first, among them the order of creation and its reverse, which at c = 0 are
 *   enough for t = 2.
 * - Of runs with the same order, variables, graph of happens-before and final priorities only the first
 *   is extended. The paper asks for the same set and graph only; that loses schedules within the bounds
 *   (tests/unit/strategies/test_bounded.c finds programs for it), since the runs go on differently.
 */
#include "strategies/bounded.h"

#include "base/text.h"
#include "strategies/commuting.h"
#include "strategies/hash_set.h"
#include "strategies/order_hash.h"
#include "strategies/priority_table.h"
#include "strategies/run_tree.h"
#include "strategies/shared_variables.h"
#include "strategies/strategy.h"
#include "strategies/thread_orders.h"

enum bounded_option {
	OPTION_CHANGES,
	OPTION_VARIABLES,
	OPTION_THREADS,
	OPTION_RISK,
	OPTION_RUNS,
	OPTION_LOOPS
};

#define VARIABLES_MOST 6u
#define CHANGES_MOST 16
#define CHANGES_FIRST 2u	/* where c is not given: most known bugs need at most 2 */
#define THREADS_FIRST 3u	/* t then, and one more with each more of c */
#define STOPPED_ORDERS 2u	/* of them: those in which threads are stopped first */
#define RUNS_STANDARD (1 << 18) /* those with fewer than c changes */
/* As in the paper: more yields than this, and a thread comes last. */
#define YIELDS_BEFORE_LAST 100
/* Below the initial priorities: of threads that were stopped, then of those that yielded. */
#define PRIORITY_STOPPED 2000
#define PRIORITY_YIELDED 1000

/* What is being made, in this order; the last two for each v and t. */
enum bounded_pass {
	PASS_NONE,
	PASS_ROOTS, /* runs without changes, in the fixed orders */
	PASS_FIXED, /* with changes, in the first two of those: most that can be found is found there */
	PASS_ALL /* in random orders */
};

struct bounded {
	struct strategy_config config;
	bool has_learnt; /* the first run, which shows who uses what, is over */
	enum bounded_pass pass;
	bool is_exhausted, is_lost;
	uint32_t changes; /* c, v and t that are being worked on */
	uint32_t variables, threads;
	uint32_t done_changes, done_variables, done_threads; /* the last that are done; 0: none */
	uint32_t shared_used; /* variables that were known when the runs of the tree began */
	uint32_t threads_most;
	uint64_t runs, diverged_runs;
	uint64_t seed;

	/* The run at hand. */
	uint64_t order_seed;
	uint32_t order;	       /* enum fixed_order, then random ones */
	uint32_t changes_made; /* so far */
	uint32_t lowered;      /* threads that yielded too often */
	struct priority_table priorities;
	uint32_t yields[THREAD_CAPACITY];

	struct commuting commuting;

	struct order_hash graph;
	struct shared_variables shared;
	struct hash_set seen; /* graphs of runs that have been extended */
	struct run_tree tree; /* the last: its runs lie behind, then the graphs */
};

static uint32_t option_of(const struct bounded *bounded, enum bounded_option option)
{
	return (uint32_t)bounded->config.option[option];
}

static size_t seen_distance(const struct strategy_config *config)
{
	const size_t bytes = offsetof(struct bounded, tree) +
			     run_tree_bytes((uint32_t)config->option[OPTION_RUNS]);

	return (bytes + 7) & ~(size_t)7;
}

static size_t bounded_state_bytes(const struct strategy_config *config)
{
	return seen_distance(config) +
	       hash_set_slots((uint64_t)config->option[OPTION_RUNS]) * sizeof(uint64_t);
}

/* From the first bounds on, with no run made. */
static void begin_walk(struct bounded *bounded)
{
	bounded->diverged_runs += bounded->tree.diverged_runs;
	bounded->tree.diverged_runs = 0;
	hash_set_clear(&bounded->seen);
	run_tree_begin(&bounded->tree, option_of(bounded, OPTION_RUNS), bounded->changes);
	bounded->shared_used = bounded->shared.shared_count;
	bounded->pass = PASS_NONE;
	bounded->variables = 0;
	bounded->threads = 2;
}

static void bounded_begin_campaign(void *state, const struct strategy_config *config)
{
	struct bounded *bounded = state;

	bounded->config = *config;
	bounded->seen.distance = seen_distance(config) - offsetof(struct bounded, seen);
	bounded->seen.mask = hash_set_slots((uint64_t)config->option[OPTION_RUNS]) - 1;
	bounded->changes = config->option[OPTION_CHANGES] < 0
				   ? CHANGES_FIRST
				   : (uint32_t)config->option[OPTION_CHANGES];
	begin_walk(bounded);
}

/* ---- bounds ---- */

static void begin_level(struct bounded *bounded)
{
	const uint32_t random = thread_orders_needed(bounded->threads_most + bounded->changes,
		bounded->threads, option_of(bounded, OPTION_RISK),
		RUN_TREE_ORDERS_MOST - THREAD_ORDERS_FIXED);
	const uint32_t orders[] = {[PASS_ROOTS] = THREAD_ORDERS_FIXED,
		[PASS_FIXED] = STOPPED_ORDERS,
		[PASS_ALL] = THREAD_ORDERS_FIXED + random};
	const struct run_bounds bounds = {
		.changes = bounded->pass == PASS_ROOTS ? 0 : bounded->changes,
		.variables = bounded->variables,
		.loops = option_of(bounded, OPTION_LOOPS),
		.order_end = orders[bounded->pass]};

	run_tree_widen(&bounded->tree, &bounds, bounded->shared.variable);
}

/* c changes are at no more than c variables; and there are only so many. */
static uint32_t variables_most(const struct bounded *bounded)
{
	uint32_t most = bounded->changes ? bounded->changes : 1;

	if (most > bounded->shared.shared_count)
		most = bounded->shared.shared_count;
	return most < VARIABLES_MOST ? most : VARIABLES_MOST;
}

static uint32_t threads_most(const struct bounded *bounded)
{
	uint32_t most = THREAD_ORDERS_MOST;

	if (bounded->config.option[OPTION_CHANGES] < 0)
		most = THREADS_FIRST + bounded->changes - CHANGES_FIRST;
	return most < THREAD_ORDERS_MOST ? most : THREAD_ORDERS_MOST;
}

/* Larger v and t: along the diagonals of the grid. False: there are none for this c. */
static bool next_bounds(struct bounded *bounded)
{
	const uint32_t fixed_v = option_of(bounded, OPTION_VARIABLES);
	const uint32_t fixed_t = option_of(bounded, OPTION_THREADS);
	const uint32_t most_v = fixed_v ? fixed_v : variables_most(bounded);
	const uint32_t most_t = fixed_t ? fixed_t : threads_most(bounded);

	for (;;) {
		const uint32_t sum = bounded->variables + bounded->threads;

		if (bounded->threads > 2) {
			bounded->variables++;
			bounded->threads--;
		} else {
			bounded->threads = sum;
			bounded->variables = 1;
		}
		if (sum > VARIABLES_MOST + THREAD_ORDERS_MOST)
			return false;
		if (bounded->threads <= most_t && bounded->variables <= most_v &&
			(!fixed_v || bounded->variables == fixed_v) &&
			(!fixed_t || bounded->threads == fixed_t))
			return true;
	}
}

/* v is given, and there are not so many variables. */
static bool is_short_of_variables(const struct bounded *bounded)
{
	return bounded->has_learnt &&
	       option_of(bounded, OPTION_VARIABLES) > bounded->shared.shared_count;
}

/* All of v and t is run: on to larger ones, and after the largest to a larger c, for which all is run
 * again. */
static void end_bounds(struct bounded *bounded)
{
	bounded->done_changes = bounded->changes;
	bounded->done_variables = bounded->variables;
	bounded->done_threads = bounded->threads;
	if (next_bounds(bounded)) {
		bounded->pass = PASS_FIXED;
	} else if (bounded->config.option[OPTION_CHANGES] < 0 && bounded->changes < CHANGES_MOST) {
		bounded->changes++;
		begin_walk(bounded);
	} else {
		bounded->is_exhausted = true;
	}
}

static void next_pass(struct bounded *bounded)
{
	run_tree_note_done(&bounded->tree);
	switch (bounded->pass) {
	case PASS_NONE:
		bounded->is_exhausted =
			!bounded->shared.shared_count || is_short_of_variables(bounded);
		bounded->pass = PASS_ROOTS;
		break;
	case PASS_ROOTS:
		bounded->is_exhausted = !next_bounds(bounded);
		bounded->pass = PASS_FIXED;
		break;
	case PASS_FIXED:
		bounded->pass = PASS_ALL;
		break;
	case PASS_ALL:
		end_bounds(bounded);
		break;
	}
}

/*
 * The first run within new bounds has seen all that those before it have shown to be shared; if the
 * second sees more, that is not in the first one's count, and it is cheap to begin again at once.
 */
static void watch_variables(struct bounded *bounded)
{
	const struct run_tree *tree = &bounded->tree;

	if (tree->node_count == 1)
		bounded->shared_used = bounded->shared.shared_count;
	else if (tree->node_count == THREAD_ORDERS_FIXED &&
		 bounded->shared_used < bounded->shared.shared_count)
		bounded->tree.is_done = true;
}

/* After the run that learns, and whenever a pass is over. */
static void advance(struct bounded *bounded)
{
	while (!bounded->is_exhausted && bounded->tree.is_done) {
		/* What earlier runs did not know of variables, they have not counted either. */
		if (bounded->pass != PASS_NONE &&
			bounded->shared_used < bounded->shared.shared_count)
			begin_walk(bounded);
		next_pass(bounded);
		if (!bounded->is_exhausted && bounded->pass != PASS_NONE)
			begin_level(bounded);
	}
}

/* ---- a run ---- */

static void bounded_begin_run(void *state, uint64_t seed)
{
	struct bounded *bounded = state;

	if (!bounded->runs)
		bounded->seed = seed; /* one for all: orders are known by their number */
	bounded->priorities.known = 0;
	bounded->changes_made = bounded->lowered = 0;
	order_hash_begin(&bounded->graph);
	commuting_begin_run(&bounded->commuting);
	run_tree_begin_run(&bounded->tree);
	/* The order of creation is what the program mostly does by itself: it is not the first. */
	bounded->order = bounded->has_learnt && !bounded->is_exhausted
				 ? run_tree_order(&bounded->tree)
				 : THREAD_ORDER_REVERSE;
	bounded->order_seed = hash_pair(bounded->seed, bounded->order);
}

static void meet(struct bounded *bounded, const struct schedule_view *view)
{
	struct priority_table *table = &bounded->priorities;

	for (; table->known < view->thread_count; table->known++) {
		const uint32_t number = table->known;

		table->priority[number] = PRIORITY_INITIAL | thread_order_priority(bounded->order,
								     bounded->order_seed, number,
								     view->names[number]);
		bounded->yields[number] = 0;
	}
}

/* What a thread falls or rises to at the run's next change. */
static uint64_t next_priority(const struct bounded *bounded)
{
	/* In the fixed orders a stopped thread comes last: others have the random places. */
	if (bounded->order < THREAD_ORDERS_FIXED)
		return PRIORITY_STOPPED - bounded->changes_made;
	return hash_pair(bounded->order_seed, UINT64_C(1) << 40 | bounded->changes_made) >> 1 |
	       PRIORITY_INITIAL;
}

static struct thread_id bounded_choose(void *state, const struct schedule_view *view)
{
	struct bounded *bounded = state;
	struct priority_table *table = &bounded->priorities;
	const struct pending_op *op;
	uint64_t old;
	uint32_t highest, next, object;

	meet(bounded, view);
	highest = priority_table_highest(table, view);
	op = &view->pending[highest];
	if (view->enabled_count == 1 || !shared_variables_has(op))
		return (struct thread_id){(uint16_t)highest};
	old = table->priority[highest];
	table->priority[highest] = next_priority(bounded);
	next = priority_table_highest(table, view);
	object = next != highest ? shared_variables_number(&bounded->shared, view, op)
				 : KEY_TABLE_NONE;
	if (object == KEY_TABLE_NONE || !run_tree_at(&bounded->tree, object)) {
		if (object != KEY_TABLE_NONE)
			commuting_point(&bounded->commuting, object,
				run_tree_last_ordinal(&bounded->tree, object));
		table->priority[highest] = old;
		return (struct thread_id){(uint16_t)highest};
	}
	bounded->changes_made++;
	if (run_tree_is_past(&bounded->tree))
		commuting_stop(&bounded->commuting, (struct thread_id){(uint16_t)highest});
	return (struct thread_id){(uint16_t)next};
}

/* A thread that yields again and again waits for another: it comes last (section 5). */
static void note_yield(struct bounded *bounded, uint32_t thread)
{
	if (++bounded->yields[thread] <= YIELDS_BEFORE_LAST)
		return;
	bounded->yields[thread] = 0;
	if (bounded->lowered < PRIORITY_YIELDED - 1)
		bounded->lowered++;
	bounded->priorities.priority[thread] = PRIORITY_YIELDED - bounded->lowered;
}

static void bounded_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct bounded *bounded = state;

	order_hash_add(&bounded->graph, view, thread);
	commuting_executed(&bounded->commuting, view, thread);
	if (view->pending[thread.index].flags & OP_PAUSE)
		note_yield(bounded, thread.index);
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

/* ---- after a run ---- */

/* Is no run known that is like this one and would go on like it? Remembers it. */
static bool is_new_graph(struct bounded *bounded)
{
	uint64_t key = hash_pair(bounded->graph.value, bounded->order);
	uint16_t set[RUN_TREE_DEVIATIONS_MOST];
	const uint32_t count = run_tree_set(&bounded->tree, set);

	for (uint32_t i = 0; i < count; i++)
		key = hash_pair(key, set[i]);
	key = hash_pair(key, bounded->changes_made);
	for (uint32_t i = 0; i < bounded->priorities.known; i++)
		key = hash_pair(key, bounded->priorities.priority[i]);
	return hash_set_add(&bounded->seen, key);
}

/* Stops that would have made the same run, but for the order of independent ops. */
static void note_same(struct bounded *bounded)
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

	/* One that proves nothing is made again. */
	if (summary->outcome == OUTCOME_TAINTED || bounded->is_exhausted)
		return;
	bounded->runs++;
	if (summary->thread_count > bounded->threads_most)
		bounded->threads_most = summary->thread_count;
	if (bounded->has_learnt) {
		note_same(bounded);
		run_tree_end_run(&bounded->tree, is_new_graph(bounded), bounded->shared.variable);
		watch_variables(bounded);
		bounded->is_lost = bounded->is_exhausted = bounded->tree.is_lost;
	}
	bounded->has_learnt = true;
	advance(bounded);
}

struct bounded_run bounded_last_run(const void *state)
{
	const struct bounded *bounded = state;
	uint16_t set[RUN_TREE_DEVIATIONS_MOST];

	return (struct bounded_run){run_tree_changes(&bounded->tree),
		run_tree_set(&bounded->tree, set), bounded->threads};
}

static bool bounded_is_exhausted(const void *state)
{
	return ((const struct bounded *)state)->is_exhausted;
}

/* ---- what it says ---- */

static void add_bound(struct text *text, const char *name, uint32_t bound)
{
	text_add(text, name);
	text_add(text, " ≤ ");
	text_number(text, bound, 10);
}

static void bounded_verdict(const void *state, struct strategy_verdict *out)
{
	const struct bounded *bounded = state;
	const bool has_diverged = bounded->diverged_runs || bounded->tree.diverged_runs;
	struct text text;

	text_init(&text, out->refusal, sizeof out->refusal);
	if (is_short_of_variables(bounded)) {
		text_add(&text, "threads share ");
		text_number(&text, bounded->shared.shared_count, 10);
		text_add(&text, bounded->shared.shared_count == 1 ? " variable" : " variables");
		text_add(&text, ", fewer than v; give a smaller v");
	}
	text_init(&text, out->scope, sizeof out->scope);
	out->runs = bounded->runs;
	out->redundant = 0;
	out->remark = NULL;
	out->is_up_to_order = true;
	out->missing = bounded->is_lost ? "there are more of them than option runs allows"
		       : has_diverged	? STRATEGY_PROGRAM_VARIES
					: NULL;
	out->is_complete = bounded->is_exhausted && !out->missing && !out->refusal[0];
	if (!bounded->done_variables || out->missing)
		return;
	add_bound(&text, "with c", bounded->done_changes);
	add_bound(&text, ", v", bounded->done_variables);
	add_bound(&text, ", t", bounded->done_threads);
	if (option_of(bounded, OPTION_LOOPS))
		add_bound(&text, ", l", option_of(bounded, OPTION_LOOPS));
	out->missed = 1;
	for (uint32_t i = 0; i < option_of(bounded, OPTION_RISK); i++)
		out->missed /= 10;
	/* Lemma 4.1 is about what stops cut threads into. */
	if (bounded->done_changes)
		out->remark = "t counts a thread again behind each stop of it";
}

static const struct strategy_option bounded_options[] = {
	{"preemptions", -1, 0, CHANGES_MOST,
		"c: changes of priority in a run (2, then more); most known bugs need at most 2",
		NULL},
	{"variables", 0, 1, VARIABLES_MOST, "v: at so many variables only (1, then more)", NULL},
	{"threads", 0, 2, THREAD_ORDERS_MOST, "t: only orders of so many threads (2, then more)",
		NULL},
	{"risk", 6, 1, 12, "an order of t threads is missed with probability below 10^-risk", NULL},
	{"runs", RUNS_STANDARD, 1024, 1 << 26,
		"how many it can go on from; each takes about 180 bytes when it is made", NULL},
	{"loops", 0, 1, 255,
		"l: of the blocks that one call stack allocates only the first so many (all, the "
		"first ones first)",
		NULL},
	{0},
};

const struct strategy strategy_bounded = {
	.name = "bounded",
	.summary =
		"runs all schedules with few preemptions at few variables, in orders of few threads",
	.options = bounded_options,
	.wants_places = true,
	.state_bytes = bounded_state_bytes,
	.begin_campaign = bounded_begin_campaign,
	.begin_run = bounded_begin_run,
	.choose = bounded_choose,
	.executed = bounded_executed,
	.choose_value = bounded_choose_value,
	.end_run = bounded_end_run,
	.is_exhausted = bounded_is_exhausted,
	.verdict = bounded_verdict,
};
