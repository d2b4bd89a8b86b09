/* State of strategy `bounded`: runs, bounds, positions of stopped threads, and tasks. */
#pragma once

#include "strategies/commuting.h"
#include "strategies/hash_set.h"
#include "strategies/order_hash.h"
#include "strategies/priority_table.h"
#include "strategies/search/run_tree.h"
#include "strategies/search/shared_variables.h"
#include "strategies/strategy.h"
#include "strategies/thread_orders.h"

enum bounded_option {
	OPTION_CHANGES,
	OPTION_VARIABLES,
	OPTION_THREADS,
	OPTION_RISK,
	OPTION_RUNS,
	OPTION_LOOPS,
	OPTION_PRUNING
};

enum bounded_pruning { PRUNING_STATES, PRUNING_GRAPHS, PRUNING_NONE };

#define VARIABLES_MOST 6u
#define CHANGES_MOST 16
#define BOUNDS_SUM_MOST (VARIABLES_MOST + THREAD_ORDERS_MOST + 1) /* of v and t */
#define CHANGES_FIRST 2u /* default of c: most known bugs need at most 2 changes */

/* The passes in their order; the last two are repeated for each v and t. */
enum bounded_pass {
	PASS_NONE,
	PASS_ROOTS, /* runs without changes, in the fixed orders */
	/* Changes to the lowest position, in the first two fixed orders, which find most bugs. */
	PASS_FIXED,
	PASS_ALL /* changes to all positions, and random orders */
};

struct bounded {
	struct strategy_config config;
	bool has_learnt; /* the first run, which learns the shared variables, is complete */
	enum bounded_pass pass;
	bool is_exhausted, is_lost;
	uint32_t changes; /* the current bounds c, v and t */
	uint32_t variables, threads;
	/* the last completed bounds; 0: none */
	uint32_t done_changes, done_variables, done_threads;
	/* shared variables known at the first runs of the tree */
	uint32_t shared_used;
	uint32_t threads_most;
	/* a name's index is its number in the fixed orders */
	struct key_table names;
	uint32_t names_used; /* number of names known when the first runs of the tree were made */
	uint64_t runs, diverged_runs;
	/* a thread has yielded: the number of points that other threads pass matters */
	bool has_paused;
	uint64_t seed;
	bool has_focus; /* the host calls focus() */

	/* Task fields (bounded_tasks.c). `task` 0: the owner's state. `noted_count`: runs noted for
	 * the owner. `runs_had`: the owner's runs before the split. `knowledge`: its hash at the
	 * split. */
	uint32_t task, noted_count;
	uint64_t runs_had, knowledge;

	bool is_elsewhere; /* the current run counts for another shard */
	uint64_t runs_elsewhere, elsewhere_had;
	uint32_t ends; /* number of completed bounds */
	uint64_t plans[STRATEGY_PLANS];

	uint64_t order_seed;
	bool is_focused; /* accesses to variables without a change may not be scheduling points */
	/* the focused run diverged: it is repeated with all accesses */
	bool needs_all;
	uint32_t order; /* enum thread_order, then random orders */
	uint32_t changes_made;
	uint32_t lowered;
	/* point that the thread after the last stop passed unchecked, as a hash; 0: none */
	uint64_t passed;
	struct priority_table priorities;
	uint64_t present[BITSET_WORDS(KEY_TABLE_CAPACITY)]; /* names of the threads of this run */
	uint32_t yields[THREAD_CAPACITY];

	struct commuting commuting;

	struct order_hash graph;
	struct shared_variables shared;
	struct hash_set seen; /* hashes of the graphs of runs that were extended */
	/* last member: the nodes of the tree follow, then the slots of `seen` */
	struct run_tree tree;
};

static inline uint32_t bounded_option_of(const struct bounded *bounded, enum bounded_option option)
{
	return (uint32_t)bounded->config.option[option];
}

/* Returns the initial priority by the number of the thread's name. A stop or a yield replaces it. */
static inline uint64_t bounded_initial_priority(
	const struct bounded *bounded, uint32_t number, thread_name name)
{
	return PRIORITY_INITIAL |
	       thread_order_priority(bounded->order, bounded->order_seed, number, name);
}

extern const struct strategy_tasks bounded_tasks;
/* Notes, for the owner, a task's run with this graph. */
void bounded_note_run(struct bounded *task, uint64_t key, uint32_t node);

/* Priorities below the initial ones: stopped threads at position 0, and below them threads that
 * yielded. */
#define BOUNDED_STOPPED (2000 * THREAD_ORDER_STEP)
#define BOUNDED_YIELDED (1000 * THREAD_ORDER_STEP)

/* Returns the number of positions for the thread `stopped` where `next` moves instead. Position 0 is
 * below all threads; position i directly below the i-th thread downwards from `next`, counting live
 * threads and known threads that are not yet created. */
uint32_t bounded_count_positions(const struct bounded *bounded, const struct schedule_view *view,
	uint32_t stopped, uint32_t next);
uint64_t bounded_position(const struct bounded *bounded, const struct schedule_view *view,
	uint32_t stopped, uint32_t next, uint32_t position);
/* Returns a hash of the relative order of the threads; equal if a further stop must have the same
 * effect. */
uint64_t bounded_hash_order(const struct bounded *bounded);

void bounded_begin_walk(struct bounded *bounded);
/* Returns whether more threads or variables are known than at the first runs of the tree. */
bool bounded_has_learnt_more(const struct bounded *bounded);
/* Returns whether option v is given and exceeds the number of shared variables. */
bool bounded_is_short_of_variables(const struct bounded *bounded);
/* Restarts the walk early, when that is cheap, if shared variables are found without changes. */
void bounded_watch_variables(struct bounded *bounded);
/* Called after the learning run and each end of a pass: selects the next pass or bounds. */
void bounded_advance(struct bounded *bounded);
