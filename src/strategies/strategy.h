/*
 * A strategy chooses, at every scheduling point, the thread whose pending op happens next.
 *
 * A strategy is one file, one `const struct strategy` and one row in strategies.def. It is a pure
 * chooser: no clock, no input or output, no allocation, no engine types. Budgets, recording,
 * metrics, replay of a prefix and determinism checks are implemented around strategies.
 *
 * The state is one block of strategy_state_bytes() bytes in shared memory, zeroed before begin_campaign().
 * It contains no pointers, because it may be mapped at another address in the next run, and
 * outlives rewinds, forks and crashes of the target. end_run() is also called, from outside the
 * run, after a run that died.
 *
 * Runs are made in *rounds*, so that several processes share the work with the same result. A run
 * depends only on the *lessons* of earlier rounds, and stores its lesson under its *position* (index)
 * in the round; the knowledge changes only between rounds (`learn`). A strategy without `learn`
 * learns nothing, or makes all its runs in one process and updates its state after each run.
 *
 * Life cycle: begin_campaign(); for each run begin_run(), choose() and executed() at each
 * scheduling point, and end_run(). The seed passed to begin_run() is the only source of randomness:
 * same state, seed and program give the same choices. Thread context: the target's only moving
 * thread, with the baton held.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/outcome/outcome.h"
#include "model/schedule.h"
#include "model/view.h"

/* An option of a strategy. Options are written after the name: `pct,depth=3`. Values are
 * integers. */
struct strategy_option {
	const char *name; /* NULL ends the list */
	/* default; outside of least..most: the strategy chooses the value */
	int64_t standard;
	int64_t least;
	int64_t most;
	const char *help; /* a phrase that includes the reason for the default value */
	/* names of the values from 0, NULL-terminated; NULL if the option has numbers */
	const char *const *words;
};

#define STRATEGY_OPTIONS_MAX 8
#define STRATEGY_ROUND_MOST 16384u /* the maximum number of runs in a round */
#define STRATEGY_ROUND_FIRST 4096u /* rounds grow until they reach this number of runs */
#define STRATEGY_ROUND_PART 16u	   /* later rounds have 1/16 of the number of all earlier runs */

struct strategy_config {
	int64_t option[STRATEGY_OPTIONS_MAX]; /* checked values in the order of strategy->options */
	uint32_t thread_capacity;	      /* the maximum number of threads in a run */
	/* shard, from 1, of independent `shards`; 0: not divided (is_elsewhere()) */
	uint32_t shard, shards;
	/* seed of the first run of shard 1, in every shard, if the search has shards */
	uint64_t seed;
};

struct run_summary {
	uint32_t thread_count;
	uint64_t step_count; /* number of scheduling points from the first thread creation on */
	enum outcome_kind outcome;
};

/* Proven lower bound of the probability that one run shows a bug: 1/(threads * steps^(depth-1)). */
struct strategy_guarantee {
	double probability; /* per run, for a bug of `depth`; 0 as long as n and k are not known */
	uint32_t depth;
	uint32_t threads; /* n, as measured */
	uint64_t steps;	  /* k, as measured */
	/* r: the bug's events are at most r events apart; 0: no such condition */
	uint64_t radius;
	uint32_t variables, variable_total; /* v of m variables; 0: no such condition */
	uint32_t order_threads; /* t: number of threads whose order matters; 0: no such condition */
	/* fraction of the runs with the guarantee, included in `probability`; 0: all */
	double share;
	const char *formula; /* "1/(n*k^(d-1))" */
	/* share of the runs without stalls, included in `probability`: "4/5*", or "" for all */
	const char *stall_factor;
};

/* Why the prefix of an earlier run was not repeated. */
#define STRATEGY_PROGRAM_VARIES                                                                    \
	"a variable, or an access to it, was not there when its run was made again; the program "  \
	"does not do the same in every run (time, random numbers, files?)"

#define STRATEGY_PLANS 32u

struct strategy_verdict {
	bool is_complete;    /* every run that the strategy promises has been made */
	bool is_up_to_order; /* runs that differ only in the order of independent ops count as one */
	uint64_t runs;
	/* runs among `runs` that are equivalent to others, or counted in another shard */
	uint64_t redundant;
	const char *missing; /* the reason why the search can never be complete; NULL if none */
	/* Features of the search's runs (model/feature.h): what the search leaves out of them. The strategy
	 * does not set the field. */
	uint32_t features;
	/* Options that this program cannot satisfy, as "problem; remedy"; may be empty. */
	char refusal[96];
	/* Interchangeable threads ("main.0 and main.1"): orders that only exchange them count as
	 * one. Empty: there are none. */
	char exchange[160];
	double exchanges; /* number of their permutations; 0: not known */
	/* why the option for this has no effect; NULL: it has, or is not set */
	const char *asymmetry;
	/*
	 * Shards only: must be equal in all shards, or the shards together may miss runs. Index:
	 * scope_order modulo STRATEGY_PLANS. 0: no hash.
	 */
	uint64_t plans[STRATEGY_PLANS];
	double missed; /* upper bound of the probability that a run within `scope` is missing */
	/* Estimate of the number of all orders (is_up_to_order), and its variance. 0: no estimate. */
	double orders, orders_variance;
	/* Larger scopes include smaller ones. All shards together have the smallest. */
	uint64_t scope_order;
	/* "with at most 2 preemptions"; empty: all schedules if is_complete, else none */
	char scope[160];
};

/*
 * Tasks of an exhaustive strategy: other processes explore a task ahead of time, with the same
 * result as one process. A task is itself a state of the strategy, exhausted when its runs are
 * made. The owner's state joins a task where the task's runs belong in the search.
 *
 * The caller holds both blocks and calls these functions outside of runs.
 */
struct strategy_tasks {
	/*
	 * Moves runs that will certainly be needed, but not soon, into the block `task`. `number`:
	 * the task; not 0, not in use. `most`: limit of useful runs. Returns false if no such runs
	 * exist now.
	 */
	bool (*split)(void *state, void *task, uint32_t number, uint64_t most, bool is_exact);
	void (*copy)(void *to, const void *task);
	/* The task that must be joined or left before the next run; 0: none. */
	uint32_t (*awaited)(const void *state);
	uint64_t (*runs)(const void *task);
	/*
	 * The owner's state and the task's state import each other's results about runs outside of
	 * their own subtrees. Allowed between two runs of either, if is_exact is false. Returns
	 * false if their assumptions conflict: the task must return to its last synchronised copy,
	 * or is useless. NULL if not needed.
	 */
	bool (*synchronise)(void *state, void *task);
	/*
	 * Joins the awaited task between two of its runs. `is_exact`: the runs must be those of a
	 * single state, in the same order; otherwise only their number and findings. Returns false
	 * if the task's assumptions were wrong, nothing is joined, and the state makes these runs
	 * itself.
	 */
	bool (*join)(void *state, void *task, bool is_exact);
	/* Cancels the task: the state makes its runs itself. 0: cancels all tasks. */
	void (*leave)(void *state, uint32_t number);
};

/* Whether a strategy can work on this program as intended, from what it has learnt. The portfolio gives runs
 * of a strategy that cannot to another one. */
enum strategy_ability {
	NOT_ABLE,    /* a run would be a random walk */
	PARTLY_ABLE, /* threads influence each other in ways that the ops do not show */
	ABLE
};

/*
 * Several workers make the runs of a round. Between two rounds one state gathers their lessons,
 * learns, and the workers share the result. The first four are all set or all NULL.
 */
struct strategy_learning {
	/* Position in its round of the run that begins next; the default is 0. */
	void (*begin_position)(void *state, uint32_t position);
	/* Imports the lessons of `count` runs from `position` on, made with the state `other`. */
	void (*gather)(void *state, const void *other, uint32_t position, uint32_t count);
	/* Learns from a finished round of `count` runs. The next round has at most `next` runs. */
	void (*learn)(void *state, uint32_t count, uint32_t next);
	void (*share)(void *state, const void *other);
	/*
	 * Replaces begin_run() if another strategy makes the choices of the run: executed() and
	 * end_run() follow, and the run teaches. NULL: only own runs teach.
	 */
	void (*observe)(void *state);
	/*
	 * Number of positions at the beginning of the round that one worker must make, in order. A run
	 * at position 0 undoes earlier runs of the round at these positions, so that any worker can make
	 * all of them again. The program must not vary in them. NULL: 0.
	 */
	uint32_t (*ordered)(const void *state);
	/* Called before `learn`: the program has new scheduling points. NULL: no effect. */
	void (*begin_again)(void *state);
	/*
	 * Estimate, from what is learnt, of the binary logarithm of the number of orders of ops that
	 * threads may exchange; a program with few is small. NULL: no estimate.
	 */
	uint64_t (*order_bits)(const void *state);
	enum strategy_ability (*ability)(const void *state); /* NULL: ABLE */
};

/* Exhaustive search. All members are NULL in strategies that choose at random. */
struct strategy_search {
	/* Returns true if all runs are made. NULL if the search never ends. */
	bool (*is_exhausted)(const void *state);
	/*
	 * For a state from a file or another process, between two runs: do all counts and indices
	 * lie within the block that the strategy lays out for `config`, and do all lists end?
	 */
	bool (*is_valid)(void *state, const struct strategy_config *config);
	void (*verdict)(const void *state, struct strategy_verdict *out); /* NULL: no verdict */
	/*
	 * Every shard makes the run that ends, to divide the search, but another shard counts it.
	 * NULL if the search cannot be divided into shards.
	 */
	bool (*is_elsewhere)(const void *state);
	const struct strategy_tasks *tasks; /* NULL if the search cannot be divided into tasks */
};

/* Functions that make runs faster. A strategy is correct without any of these calls. Each may be
 * NULL. */
struct strategy_fast_path {
	/*
	 * Replaces begin_run() after a complete, recorded run. Returns the number of leading
	 * choices that both runs share, which count as made and executed. NULL: the strategy must
	 * be asked.
	 */
	uint32_t (*repeat_prefix)(void *state, uint64_t seed);
	/*
	 * Fills `objects` with the objects at whose accesses the run may do anything but continue.
	 * A class number (op_class()) stands for all memory of one allocation site. Other accesses
	 * need not be scheduling points. Returns their number; 0, or NULL: the run needs all
	 * accesses.
	 */
	uint32_t (*focus)(void *state, uint64_t seed, object_name *objects, uint32_t capacity);
	/*
	 * Called after a memory access of the chosen thread. Returns the number of accesses that
	 * the thread may make next without a call, because choose() would name it at each.
	 * end_lease() reports their number, instead of executed(), before any other call.
	 * `is_focused`: they are accesses to objects of focus(). A strategy has both functions or
	 * neither.
	 */
	uint64_t (*lease)(void *state, const struct schedule_view *view, bool is_focused);
	void (*end_lease)(void *state, const struct schedule_view *view, uint64_t count);
	/*
	 * Called when the current thread's op is ready, and fairness does not delay the thread.
	 * True: the step counts as chosen and executed. The fields current, thread_count and step
	 * of the view are valid; all others are not.
	 */
	bool (*keeps_current)(void *state, const struct schedule_view *view);
	/*
	 * Between two scheduling points: the current thread must make the next step, even if other
	 * threads are enabled, and even if it computes for long (engine_spin_point()). The view is
	 * as above.
	 */
	bool (*must_continue)(void *state, const struct schedule_view *view);
};

struct strategy {
	const char *name;
	const char *summary;		       /* one line for `raddle list strategies` */
	const struct strategy_option *options; /* NULL if the strategy has no options */
	/* the view must have loop numbers (heap_position), which slows allocations down */
	bool wants_heap_positions;
	/* chooses a thread of view->stallable only where its schedule says so */
	bool follows_stalls;
	/* Returns whether the current run has no stalls, and interruption points before file calls
	 * only, as all runs of an exhaustive search. NULL if `search` decides this for all runs. */
	bool (*is_unvaried)(const void *state);

	/* Options that are each within their range: "problem; remedy", or NULL. May be NULL. */
	const char *(*check)(const struct strategy_config *config);
	size_t state_bytes;
	/* Replaces state_bytes if the size depends on the options. NULL otherwise. */
	size_t (*state_bytes_for)(const struct strategy_config *config);
	/* NULL if a zeroed state needs no preparation. */
	void (*begin_campaign)(void *state, const struct strategy_config *config);
	void (*begin_run)(void *state, uint64_t seed);

	/* Returns an enabled thread, at every scheduling point. */
	struct thread_id (*choose)(void *state, const struct schedule_view *view);
	/* `thread` is about to perform its pending op, also in a replayed prefix. May be NULL. */
	void (*executed)(void *state, const struct schedule_view *view, struct thread_id thread);
	/* Called at a deadlock, an exit or a failure: the pending ops of `view` never happen.
	 * Called at most once, and not when the process dies. May be NULL. */
	void (*ending)(void *state, const struct schedule_view *view);
	/* Returns a value below `count` that names no thread. NULL means a random value, derived
	 * from the seed. */
	uint32_t (*choose_value)(void *state, uint32_t count);

	/* Stores the run's lesson; without `learning`, learns at once. May be NULL. */
	void (*end_run)(void *state, const struct run_summary *summary);
	/* NULL if there is no guarantee */
	bool (*guarantee)(const void *state, struct strategy_guarantee *out);
	struct strategy_learning learning;
	struct strategy_search search;
	struct strategy_fast_path fast_path;
};

extern const struct strategy *const strategies[];
extern const uint32_t strategy_count;

/* Returns the most runs of the next round. The first rounds double the total, so that early runs
 * learn from each other. Later ones grow slowly, as does the knowledge, so that short runs rarely
 * wait. */
static inline uint32_t strategy_round_runs(uint64_t before)
{
	uint64_t most = before / STRATEGY_ROUND_PART;

	if (most < STRATEGY_ROUND_FIRST)
		most = STRATEGY_ROUND_FIRST;
	if (most > STRATEGY_ROUND_MOST)
		most = STRATEGY_ROUND_MOST;
	if (before < most)
		most = before ? before : 1;
	return (uint32_t)most;
}

static inline size_t strategy_state_bytes(
	const struct strategy *strategy, const struct strategy_config *config)
{
	return strategy->state_bytes_for ? strategy->state_bytes_for(config)
					 : strategy->state_bytes;
}

static inline void strategy_begin_campaign(
	const struct strategy *strategy, void *state, const struct strategy_config *config)
{
	if (strategy->begin_campaign)
		strategy->begin_campaign(state, config);
}

static inline void strategy_end_single_run(
	const struct strategy *strategy, void *state, const struct run_summary *summary)
{
	if (strategy->end_run)
		strategy->end_run(state, summary);
	if (strategy->learning.learn)
		strategy->learning.learn(state, 1, 1);
}

/* Checks a flag of a state from a file or another process: the byte must be 0 or 1. */
static inline bool strategy_is_flag(const bool *flag)
{
	return *(const unsigned char *)flag <= 1;
}

/* Returns whether the runs must be made one after the other in one process. */
static inline bool strategy_is_sequential(const struct strategy *strategy)
{
	return strategy->search.is_exhausted || (strategy->end_run && !strategy->learning.learn);
}

/* Returns the index of the strategy in strategies[]. */
uint32_t strategy_index(const struct strategy *strategy);
/* `length` in bytes; returns NULL if there is no such strategy. */
const struct strategy *strategy_find(const char *name, size_t length);

#define STRATEGY_DECLARE(symbol) extern const struct strategy strategy_##symbol
#define STRATEGY(symbol, name) STRATEGY_DECLARE(symbol);
#include "strategies/strategies.def"
#undef STRATEGY
