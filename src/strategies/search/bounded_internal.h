/* What bounded.c (the runs) and bounded_bounds.c (which bounds they keep to) share. */
#ifndef RADDLE_STRATEGIES_SEARCH_BOUNDED_INTERNAL_H
#define RADDLE_STRATEGIES_SEARCH_BOUNDED_INTERNAL_H

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
#define CHANGES_FIRST 2u /* where c is not given: most known bugs need at most 2 */

/* What is being made, in this order; the last two for each v and t. */
enum bounded_pass {
	PASS_NONE,
	PASS_ROOTS, /* runs without changes, in the fixed orders */
	/* With changes, in the first two of those, to the last place: most that can be found is found there. */
	PASS_FIXED,
	PASS_ALL /* to all places, and in random orders */
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
	struct key_table
		names;	     /* of threads: in order of arrival, the numbers of the fixed orders */
	uint32_t names_used; /* that were known when the runs of the tree began */
	uint64_t runs, diverged_runs;
	bool has_paused; /* in a run a thread has yielded: then it matters how many points others pass */
	uint64_t seed;
	bool has_focus; /* somebody asks for it */

	/* Of a part (bounded_parts.c), 0: it is whole. So many runs had been made before, and `knowledge` is a hash of what
	 * was known. */
	uint32_t part, noted_count;
	uint64_t runs_had, knowledge;

	/* Of a shard. */
	bool is_elsewhere;			/* the run at hand */
	uint64_t runs_elsewhere, elsewhere_had; /* of all runs, and when a part was split off */
	uint32_t ends;				/* bounds that are done so far */
	uint64_t plans[STRATEGY_PLANS];

	/* The run at hand. */
	uint64_t order_seed;
	bool is_focused; /* accesses to other variables than its own may be no points */
	bool needs_all;	 /* the run that was due strayed for that: it is made with all of them */
	uint32_t order;	 /* enum fixed_order, then random ones */
	uint32_t changes_made; /* so far */
	uint32_t lowered;      /* threads that yielded too often */
	uint64_t passed;       /* point that its last stop has passed without asking; 0: none */
	struct priority_table priorities;
	uint64_t present[BITSET_WORDS(KEY_TABLE_CAPACITY)]; /* names of its threads so far */
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

/* Of a thread by the number of its name, until a stop or a yield gives it another. */
static inline uint64_t bounded_initial_priority(
	const struct bounded *bounded, uint32_t number, thread_name name)
{
	return PRIORITY_INITIAL |
	       thread_order_priority(bounded->order, bounded->order_seed, number, name);
}

/* ---- bounded_parts.c ---- */

extern const struct strategy_parts bounded_parts;
/* A part has made a run with this graph. */
void bounded_note_run(struct bounded *part, uint64_t key, uint32_t node);

/* ---- bounded_places.c ---- */

/* Below the initial priorities: of threads that were stopped last in the order, then of those that yielded. */
#define BOUNDED_STOPPED (2000 * THREAD_ORDER_STEP)
#define BOUNDED_YIELDED (1000 * THREAD_ORDER_STEP)

/*
 * The places that the thread about to move, `stopped`, may be given at this point so that `next` moves
 * instead: number 0 is the last of all, number i right below the i-th of the threads from `next` on
 * downwards that are alive or known to come.
 */
uint32_t bounded_count_places(const struct bounded *bounded, const struct schedule_view *view,
	uint32_t stopped, uint32_t next);
/* A place's priority; the last one's where there are not so many. */
uint64_t bounded_place(const struct bounded *bounded, const struct schedule_view *view,
	uint32_t stopped, uint32_t next, uint32_t place);
/* Which thread is above which: equal where the next stop can only do the same. */
uint64_t bounded_hash_order(const struct bounded *bounded);

/* ---- bounded_bounds.c ---- */

/* From the first bounds on, with no run made. */
void bounded_begin_walk(struct bounded *bounded);
/* Has it met threads or variables of which the first runs of its tree did not know? To these, its places are other ones. */
bool bounded_has_learnt_more(const struct bounded *bounded);
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
