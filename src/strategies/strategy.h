/*
 * A strategy chooses, at every scheduling point, which thread's pending op happens next.
 *
 * One strategy is one file, one `const struct strategy` and one row in strategies.def. It is a pure
 * chooser: no clock, no input or output, no allocation, no engine types. Budgets, recording,
 * metrics, replay of a prefix and determinism checks are wrapped around it.
 *
 * State is one block of state_bytes() bytes in shared memory, zeroed before begin_campaign(). It
 * holds indices and values, never pointers (not even into itself): the block may be mapped at
 * another address for the next run, and it outlives rewinds, forks and crashes of the target. A run
 * that died half-way is followed by end_run() all the same (called from outside the run).
 *
 * Runs are made in *rounds*, so that several processes can make them and the result does not depend on
 * who made which: what a run knows is what the rounds before its own have taught. In its round it has a
 * *place*, from 0; what it teaches is its *lesson*. A strategy that learns keeps lessons by place, and what
 * it knows changes between rounds only. One that does not have `learn` learns nothing, or makes all its
 * runs in one process and changes its state in each.
 *
 * All randomness comes from the seed given to begin_run(): same state, same seed, same program,
 * same choices. Thread context: the target's only moving thread; called with the baton held.
 */
#ifndef RADDLE_STRATEGIES_STRATEGY_H
#define RADDLE_STRATEGIES_STRATEGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/outcome.h"
#include "model/schedule.h"
#include "model/view.h"

/* An option as written after the name: `pct,depth=3`. Values are integers. */
struct strategy_option {
	const char *name; /* NULL ends the list */
	int64_t standard; /* value when not given; outside of least..most: the strategy decides */
	int64_t least;
	int64_t most;
	const char *help;	  /* a phrase; the reason for the standard value belongs here too */
	const char *const *words; /* names of the values from 0, ended by NULL; NULL: numbers */
};

#define STRATEGY_OPTIONS_MAX 8
#define STRATEGY_ROUND_MOST 16384u /* runs of a round */
#define STRATEGY_ROUND_FIRST 4096u /* rounds grow to that first, */
#define STRATEGY_ROUND_PART 16u	   /* and then are such a part of all runs before them */

struct strategy_config {
	int64_t option[STRATEGY_OPTIONS_MAX]; /* in the order of strategy->options, checked */
	uint32_t thread_capacity;	      /* no run has more threads */
	/* Of so many parts that know nothing of each other this one is made, from 1; 0: all of them. For
	 * strategies with is_elsewhere(). */
	uint32_t shard, shards;
	uint64_t seed; /* with shards: of the first run of the first one, whichever this is */
};

/* What a run was like, for strategies that learn. */
struct run_summary {
	uint32_t thread_count;
	uint64_t step_count; /* scheduling points, from the first thread creation on */
	enum outcome_kind outcome;
};

/* A proven lower bound of the chance that one run shows a bug: 1 / (threads * steps^(depth-1)). */
struct strategy_guarantee {
	double probability; /* per run, for a bug of `depth`; 0 while n and k are not known */
	uint32_t depth;
	uint32_t threads; /* n as measured */
	uint64_t steps;	  /* k as measured */
	uint64_t radius;  /* r: within so many events of each other; 0: no such condition */
	uint32_t variables, variable_total; /* v out of m; 0: no such condition */
	uint32_t order_threads; /* t: threads that have to be in one order; 0: likewise */
	double share;		/* of the runs that have it, part of `probability`; 0: all have */
	const char *formula;	/* "1/(n*k^(d-1))" */
};

/* Why a strategy that makes a run again, up to a point, cannot do so. */
#define STRATEGY_PROGRAM_VARIES                                                                    \
	"a variable, or an access to it, was not there when its run was made again; the program "  \
	"does not do the same in every run (time, random numbers, files?)"

#define STRATEGY_PLANS 32u

/* What a strategy that goes through all runs of some kind can say of those it has made. */
struct strategy_verdict {
	bool is_complete;    /* it has made every run that it promises */
	bool is_up_to_order; /* runs that differ in the order of independent ops are one */
	uint64_t runs;
	uint64_t
		redundant; /* of those: made in vain, as they are equal to others or another shard's */
	const char *missing; /* why it will never be complete, NULL: nothing stands against it */
	/* Options that this program cannot meet, "problem; remedy"; empty: none. */
	char refusal[96];
	/*
	 * Of a shard: hashes of what all of them have to have in common, or together they may lack runs; at scope_order
	 * modulo their number what was so when it had that. 0: nothing.
	 */
	uint64_t plans[STRATEGY_PLANS];
	double missed; /* chance that a run within `scope` was left out, at most */
	/* One with a larger number holds the schedules of all with smaller ones: of shards the smallest is that of all. */
	uint64_t scope_order;
	char scope[160]; /* which schedules are all run by now, as in "with at most 2 preemptions";
			  * empty: all there are, if it is complete, or none of a kind */
};

/*
 * How a strategy that goes through all runs has parts of them made ahead, in other processes, so that everything is as
 * if there were one: what a part has learnt is taken where its runs would have come. States and parts are blocks of
 * state_bytes(); both lie still meanwhile. A part is a state that is exhausted when its runs are made. Called
 * outside of runs, by whoever has both blocks.
 */
struct strategy_parts {
	/*
	 * Puts runs that are certain to come, and not soon, into the block `part`, whatever was there. `number`
	 * is not 0 and not in use; `most`: more runs are not wanted; `is_exact`: as for join(). False: there are
	 * none now.
	 */
	bool (*split)(void *state, void *part, uint32_t number, uint64_t most, bool is_exact);
	/* What a part is at the moment, into another block, whatever was there. */
	void (*copy)(void *to, const void *part);
	/* The part that has to be joined or left before another run is made; 0: none. */
	uint32_t (*awaited)(const void *state);
	/* Runs that it has made. */
	uint64_t (*runs)(const void *part);
	/*
	 * Between two runs of either, and if order does not matter: each takes from the other what it has learnt of
	 * what is outside of the part, so that they do not drift apart. False: they have; the part has to go back
	 * to where it last was told, or is of no use. NULL: there is nothing to be told.
	 */
	bool (*tell)(void *state, void *part);
	/*
	 * Takes the awaited part as far as it is, between two of its runs. False: what it was given turns out to
	 * be not what comes; nothing is taken, and its runs are made here. `is_exact`: runs are to be in the order
	 * in which one state makes them, else only their number and what they show is to be the same.
	 */
	bool (*join)(void *state, void *part, bool is_exact);
	/* Its runs are made here; 0: those of all. */
	void (*leave)(void *state, uint32_t number);
};

struct strategy {
	const char *name;
	const char *summary;		       /* one line for `raddle list strategies` */
	const struct strategy_option *options; /* NULL: none */
	bool wants_places; /* the view tells of loops, too, which makes allocations slower */

	/* What is wrong with options that are each in their range, "problem; remedy"; NULL: nothing.
	 * May be NULL. */
	const char *(*check)(const struct strategy_config *config);
	size_t (*state_bytes)(const struct strategy_config *config);
	void (*begin_campaign)(void *state, const struct strategy_config *config);
	void (*begin_run)(void *state, uint64_t seed);
	/*
	 * In place of begin_run(), after a run that was carried to its end, by whoever has a record of that: returns
	 * how many of its choices, also of values, this run makes again at its beginning, and takes them as
	 * made and executed. NULL: it wants to be asked.
	 */
	uint32_t (*begin_alike)(void *state, uint64_t seed);

	/*
	 * The run of this seed comes next: fills in the objects at whose accesses the strategy may do
	 * anything, `capacity` at most, and returns how many. In place of an object it may name the number of a kind
	 * (op_class()) for all that one place allocates. Accesses to others may then be no points. 0: it needs all. Not always called. NULL: it needs all in every run.
	 */
	uint32_t (*focus)(void *state, uint64_t seed, object_name *objects, uint32_t capacity);

	/*
	 * A thread has been chosen, and has made an access to memory: how many accesses may it make next, with
	 * nothing else in between, at each of which choose() would name it again? Then it is not asked, and not told of
	 * them by executed(); went_on() says how many there were, before anything else is asked. `is_focused`: they are all
	 * to what focus() has named. Both or none.
	 */
	uint64_t (*lease)(void *state, const struct schedule_view *view, bool is_focused);
	void (*went_on)(void *state, const struct schedule_view *view, uint64_t count);

	/*
	 * The current thread is about to do something that it can do, and nothing holds it back: would choose() name
	 * it? Then it is taken as chosen and as executed. The view says who is current, how many threads there
	 * are, and the step, no more. False: choose() says. NULL: it wants to be asked.
	 */
	bool (*goes_on)(void *state, const struct schedule_view *view);
	/*
	 * Between two points: is the current thread to make the next step, whoever else could? Then it need not give the others a
	 * turn (engine_spin_point()) as it does where it computes for long. The view is as for goes_on(). NULL: nobody knows.
	 */
	bool (*insists)(void *state, const struct schedule_view *view);
	/* Returns an enabled thread. Called at every scheduling point, also when only one is
	 * enabled. */
	struct thread_id (*choose)(void *state, const struct schedule_view *view);
	/*
	 * `thread` is about to perform its pending op of `view`. Called after every choice, also
	 * where another hand chose (a replayed prefix). NULL where the strategy keeps no account.
	 */
	void (*executed)(void *state, const struct schedule_view *view, struct thread_id thread);
	/*
	 * The run ends, in a deadlock, an exit or a failure: `view` has the ops that are pending and
	 * now never happen. Called in the run, at most once: not when the process dies. NULL: not.
	 */
	void (*ending)(void *state, const struct schedule_view *view);
	/* A value below `count` for a choice that is not about threads. NULL: uniform, from the
	 * seed. */
	uint32_t (*choose_value)(void *state, uint32_t count);

	/* Notes the run's lesson; without `learn` it learns at once. NULL: it learns nothing. */
	void (*end_run)(void *state, const struct run_summary *summary);
	/* The run that begins next has this place in its round; 0 where nobody says so. All four or none. */
	void (*take_place)(void *state, uint32_t place);
	/* The runs at these places were made with the state `other`: takes their lessons over. */
	void (*gather)(void *state, const void *other, uint32_t place, uint32_t count);
	/* A round of `count` runs is over: learns from it. The next one has at most `next` runs. */
	void (*learn)(void *state, uint32_t count, uint32_t next);
	/* From now on it knows what `other` knows. */
	void (*share)(void *state, const void *other);
	/*
	 * The run at hand shows where the strategy's own are, and is made in each shard, but is another one's. Asked when
	 * it is over. NULL: it makes no shards.
	 */
	bool (*is_elsewhere)(const void *state);
	bool (*guarantee)(const void *state, struct strategy_guarantee *out); /* NULL: gives none */
	/* Nothing is left to run. NULL: never. */
	bool (*is_exhausted)(const void *state);
	void (*verdict)(const void *state, struct strategy_verdict *out); /* NULL: gives none */
	const struct strategy_parts *parts; /* NULL: each run has to wait for the one before it */
};

/* All of them, in the order of strategies.def. */
extern const struct strategy *const strategies[];
extern const uint32_t strategy_count;

/*
 * How many runs the round behind so many has at most: as many as there have been, so that early runs learn from each
 * other; later, what is learnt changes slowly, and whoever makes runs of microseconds should not wait for it often.
 */
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

/* Ends a run that is a round of its own. */
static inline void strategy_end_single_run(
	const struct strategy *strategy, void *state, const struct run_summary *summary)
{
	if (strategy->end_run)
		strategy->end_run(state, summary);
	if (strategy->learn)
		strategy->learn(state, 1, 1);
}

/* Do its runs have to be made one after the other, in one process? */
static inline bool strategy_is_sequential(const struct strategy *strategy)
{
	return strategy->is_exhausted || (strategy->end_run && !strategy->learn);
}

/* NULL when there is none of that name. `length` bytes of `name` count. */
const struct strategy *strategy_find(const char *name, size_t length);

#define STRATEGY_DECLARE(symbol) extern const struct strategy strategy_##symbol
#define STRATEGY(symbol, name) STRATEGY_DECLARE(symbol);
#include "strategies/strategies.def"
#undef STRATEGY

#endif
