/* What bounded.c (the runs) and bounded_bounds.c (which bounds they keep to) share. */
#ifndef RADDLE_STRATEGIES_BOUNDED_INTERNAL_H
#define RADDLE_STRATEGIES_BOUNDED_INTERNAL_H

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
#define CHANGES_FIRST 2u /* where c is not given: most known bugs need at most 2 */

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

static inline uint32_t bounded_option_of(const struct bounded *bounded, enum bounded_option option)
{
	return (uint32_t)bounded->config.option[option];
}

/* ---- bounded_bounds.c ---- */

/* From the first bounds on, with no run made. */
void bounded_begin_walk(struct bounded *bounded);
/* v is given, and there are not so many variables. */
bool bounded_is_short_of_variables(const struct bounded *bounded);
/*
 * The first run within new bounds has seen all that those before it have shown to be shared; if the
 * second sees more, that is not in the first one's count, and it is cheap to begin again at once.
 */
void bounded_watch_variables(struct bounded *bounded);
/* After the run that learns, and whenever a pass is over. */
void bounded_advance(struct bounded *bounded);

#endif
