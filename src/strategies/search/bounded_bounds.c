/* Sequence of the bounds of strategy `bounded`: growing c, v and t, and the passes within each. */
#include "strategies/search/bounded_internal.h"

#define THREADS_FIRST 3u  /* maximum t for the default c; grows by one with each further c */
#define STOPPED_ORDERS 2u /* number of fixed orders in which threads are stopped first */

void bounded_begin_walk(struct bounded *bounded)
{
	bounded->diverged_runs += bounded->tree.diverged_runs;
	if (!bounded_has_learnt_more(bounded))
		bounded->diverged_runs += bounded->tree.varied_runs;
	hash_set_clear(&bounded->seen);
	run_tree_begin(&bounded->tree, bounded_option_of(bounded, OPTION_RUNS), bounded->changes);
	bounded->shared_used = bounded->shared.shared_count;
	bounded->names_used = bounded->names.count;
	bounded->pass = PASS_NONE;
	bounded->variables = 0;
	bounded->threads = 2;
}

/* Returns the number of thread orders. Two suffice for t = 2; in the other fixed orders the
 * creating thread is first. */
static uint32_t bounded_bounds_orders_needed(const struct bounded *bounded)
{
	return THREAD_ORDERS_FIXED + thread_orders_needed(bounded->threads_most, bounded->threads,
					     bounded_option_of(bounded, OPTION_RISK),
					     RUN_TREE_ORDERS_MOST - THREAD_ORDERS_FIXED);
}

static void bounded_bounds_begin_level(struct bounded *bounded)
{
	const uint32_t orders[] = {[PASS_ROOTS] = THREAD_ORDERS_FIXED,
		[PASS_FIXED] = STOPPED_ORDERS,
		[PASS_ALL] = bounded_bounds_orders_needed(bounded)};
	const struct run_bounds bounds = {
		.changes = bounded->pass == PASS_ROOTS ? 0 : bounded->changes,
		.variables = bounded->variables,
		.loops = bounded_option_of(bounded, OPTION_LOOPS),
		.has_positions = bounded->pass == PASS_ALL,
		.has_values = bounded->pass != PASS_ROOTS,
		.order_end = orders[bounded->pass]};

	run_tree_widen(&bounded->tree, &bounds, bounded->shared.variable);
}

/* Returns the largest number of variables: c changes concern at most c variables, and at most all
 * shared ones. */
static uint32_t bounded_bounds_variables_most(const struct bounded *bounded)
{
	uint32_t most = bounded->changes ? bounded->changes : 1;

	if (most > bounded->shared.shared_count)
		most = bounded->shared.shared_count;
	return most < VARIABLES_MOST ? most : VARIABLES_MOST;
}

static uint32_t bounded_bounds_threads_most(const struct bounded *bounded)
{
	uint32_t most = THREAD_ORDERS_MOST;

	if (bounded->config.option[OPTION_CHANGES] < 0)
		most = THREADS_FIRST + bounded->changes - CHANGES_FIRST;
	return most < THREAD_ORDERS_MOST ? most : THREAD_ORDERS_MOST;
}

/* Goes to the next bounds, along the diagonals of the grid of v and t. Returns false if all bounds
 * for this c are done. */
static bool bounded_bounds_next_bounds(struct bounded *bounded)
{
	const uint32_t fixed_v = bounded_option_of(bounded, OPTION_VARIABLES);
	const uint32_t fixed_t = bounded_option_of(bounded, OPTION_THREADS);
	const uint32_t most_v = fixed_v ? fixed_v : bounded_bounds_variables_most(bounded);
	const uint32_t most_t = fixed_t ? fixed_t : bounded_bounds_threads_most(bounded);

	for (;;) {
		const uint32_t sum = bounded->variables + bounded->threads;

		if (bounded->variables > 1) {
			bounded->variables--;
			bounded->threads++;
		} else {
			bounded->variables = sum - 1;
			bounded->threads = 2;
		}
		if (sum == BOUNDS_SUM_MOST)
			return false;
		if (bounded->threads <= most_t && bounded->variables <= most_v &&
			(!fixed_v || bounded->variables == fixed_v) &&
			(!fixed_t || bounded->threads == fixed_t))
			return true;
	}
}

bool bounded_has_learnt_more(const struct bounded *bounded)
{
	return bounded->shared_used < bounded->shared.shared_count ||
	       bounded->names_used < bounded->names.count;
}

bool bounded_is_short_of_variables(const struct bounded *bounded)
{
	return bounded->has_learnt &&
	       bounded_option_of(bounded, OPTION_VARIABLES) > bounded->shared.shared_count;
}

/* Ends the bounds: all runs within v and t are made. After the largest, c grows and all runs are
 * made again. */
static void bounded_bounds_end_bounds(struct bounded *bounded)
{
	const uint64_t known = hash_pair(
		hash_pair(bounded->shared.shared_count, bounded->names.count),
		hash_pair(bounded->threads_most, hash_pair(bounded->variables, bounded->threads)));

	bounded->ends++;
	if (bounded->tree.shards)
		bounded->plans[bounded->ends % STRATEGY_PLANS] = hash_pair(
			run_tree_plan(&bounded->tree, bounded->shared.objects.keys), known);
	bounded->done_changes = bounded->changes;
	bounded->done_variables = bounded->variables;
	bounded->done_threads = bounded->threads;
	if (bounded_bounds_next_bounds(bounded)) {
		bounded->pass = PASS_FIXED;
	} else if (bounded->config.option[OPTION_CHANGES] < 0 && bounded->changes < CHANGES_MOST) {
		bounded->changes++;
		bounded_begin_walk(bounded);
	} else {
		bounded->is_exhausted = true;
	}
}

static void bounded_bounds_next_pass(struct bounded *bounded)
{
	if (bounded->pass != PASS_NONE) /* if not, the bounds belong to an earlier walk */
		run_tree_note_done(&bounded->tree);
	switch (bounded->pass) {
	case PASS_NONE:
		bounded->is_exhausted =
			!bounded->shared.shared_count || bounded_is_short_of_variables(bounded);
		bounded->pass = PASS_ROOTS;
		break;
	case PASS_ROOTS:
		bounded->is_exhausted = !bounded_bounds_next_bounds(bounded);
		bounded->pass = PASS_FIXED;
		break;
	case PASS_FIXED:
		bounded->pass = PASS_ALL;
		break;
	case PASS_ALL:
		/* Runs with more threads than known before require more orders. */
		if (bounded->tree.bounds.order_end == bounded_bounds_orders_needed(bounded))
			bounded_bounds_end_bounds(bounded);
		break;
	}
}

void bounded_watch_variables(struct bounded *bounded)
{
	const struct run_tree *tree = &bounded->tree;

	if (tree->node_count == 1) {
		bounded->shared_used = bounded->shared.shared_count;
		bounded->names_used = bounded->names.count;
	} else if (tree->node_count == THREAD_ORDERS_FIXED &&
		   bounded->shared_used < bounded->shared.shared_count)
		bounded->tree.is_done = true;
}

void bounded_advance(struct bounded *bounded)
{
	while (!bounded->is_exhausted && bounded->tree.is_done) {
		/* Earlier runs did not count the points of variables that they did not know. */
		if (bounded->pass != PASS_NONE && bounded_has_learnt_more(bounded) &&
			(bounded->pass == PASS_ALL ||
				bounded->shared_used < bounded->shared.shared_count))
			bounded_begin_walk(bounded);
		bounded_bounds_next_pass(bounded);
		if (!bounded->is_exhausted && bounded->pass != PASS_NONE)
			bounded_bounds_begin_level(bounded);
	}
}
