/*
 * Simulated reorderings (in identifiers: rehearsal): schedules that are tried on the events of the
 * recorded run, without running the program. A *trial* takes about a thousandth of a solver query
 * and may span the whole run, which no solver window does. Trials need not be exact, as each answer
 * is proven by a run.
 *
 * Course of a trial: the recorded run is applied up to one event. There one thread is *held* until
 * another thread has made a given event, or until no other thread is enabled. In the first case the
 * remaining threads meanwhile move only as far as the awaited thread needs. Afterwards all threads
 * continue in the order of the run. Reads return the current memory, and terms are computed from
 * them.
 *
 * A thread *stops* in the trial when its future is no longer known. That is the case when a branch
 * takes its other side, or the run did not access an address. It is also the case when code that is
 * not modelled gets another value than in the run. The first flipped branch of a thread is an
 * answer. Loops that wait are an exception: a thread may leave such a loop earlier than in the run,
 * or stand still in it until there is a new write.
 */
#ifndef RADDLE_BRANCHES_SOLVE_REHEARSAL_H
#define RADDLE_BRANCHES_SOLVE_REHEARSAL_H

#include "branches/solve/order.h"
#include "branches/solve/schedule.h"
#include "branches/solve/words.h"

/* State of one thread in a trial: its position in the lists of struct rehearsal. */
struct player {
	uint32_t at;			    /* index of its next event */
	uint32_t edge, begin, end, failure; /* next items that do not lie before `at` */
	uint64_t moved;			    /* number of the thread's last step among all steps */
	/* Event, plus one, at which the group's hold has released the thread; 0: none. */
	uint32_t released;
	uint64_t held; /* number of events that had happened when the thread reached `at` */
	/* The lowest variable with a value other than recorded; UINT32_MAX: none. */
	uint32_t changed;
	/*
	 * Number of writes of the trial, plus one, when the thread found that it must wait; 0: it
	 * need not.
	 */
	uint64_t waits;
	uint32_t skipped; /* recorded steps that the thread does not make in the trial */
	bool is_stopped;
};

/* By branch instruction: the successor that leaves a waiting loop (loops.h). */
struct wait_slot {
	uint64_t key; /* key of slots.h */
	int leaves;
};

struct done_event {
	struct event_id id;
	uint32_t skipped; /* by its thread so far */
};

struct lock_state {
	uint32_t holder;  /* thread plus one; 0: no writer holds the lock */
	uint32_t readers; /* number of readers of a read-write lock */
};

/* Value of a variable or term in trial number `trial`. */
struct trial_value {
	uint32_t trial;
	uint64_t value;
};

struct trial_term {
	const struct term *term;
	struct trial_value value;
};

/* A trial: the thread of `held` waits before that event until `until` has happened. */
struct hold {
	struct event_id held;
	struct event_id until;
	bool is_long; /* until no other thread is enabled */
	/*
	 * Every thread is held at each event of this group from `held` on, as long as other threads
	 * are enabled. Then the thread with the least progress is released; among equals, the one
	 * held longest. 0: no group.
	 */
	uint32_t group;
};

struct rehearsal {
	const struct walk *walk;
	const struct order *order;
	uint32_t thread_count;
	bool has_open_addresses;
	/* By thread and event: rank, its place in the order of the run. */
	uint32_t **ranks;
	const uint32_t *groups;	      /* by rank; 0: no group. NULL: there are no groups */
	const uint32_t *group_places; /* by rank: the thread's progress in the group (chances.h) */
	struct words words;
	/* By thread, plus a final entry: where the thread's part of each list begins. */
	uint32_t *first_edge, *first_end, *first_failure;
	uint32_t *ends; /* numbers of sections, thread by thread, sorted by their ends */
	struct order_failure *failures;
	uint32_t *locks_of;	 /* by section: number of its lock */
	uint32_t *failure_locks; /* by failure: number of its lock */
	uint32_t lock_count;
	/* The recorded run up to `rank`. */
	struct player *recorded;
	struct lock_state *recorded_locks;
	uint64_t rank;
	uint64_t recorded_steps;
	/* The current trial. */
	struct hold hold;
	bool is_holding;
	struct player *players;
	struct lock_state *locks;
	uint64_t steps;	       /* steps made so far */
	uint64_t writes;       /* writes made so far */
	uint64_t turn_ends;    /* with time slices: the step at which the slice ends */
	uint32_t current;      /* thread that moves; REHEARSAL_NOBODY: to be chosen */
	uint64_t total;	       /* events that have happened, including those before the trial */
	uint64_t behind;       /* highest rank that has happened, plus one */
	uint64_t room;	       /* limit of the trial's events */
	uint64_t look_at;      /* number of events at which the trial is next checked for its end */
	bool has_changes;      /* a variable has another value than recorded */
	uint32_t goal_skipped; /* `skipped` of the thread at the event returned last */
	struct done_event *done; /* events of the trial, in their order */
	uint64_t done_count, done_capacity;
	struct trial_value *variables; /* by number */
	struct trial_term *terms;      /* hash table; entries of earlier trials count as free */
	uint64_t term_capacity, term_count;
	uint64_t spent; /* events of all trials */
	struct wait_slot *waits;
	uint64_t wait_capacity, wait_count;
};

void rehearsal_open(
	struct rehearsal *rehearsal, const struct order *order, bool has_open_addresses);
void rehearsal_release(struct rehearsal *rehearsal);
void rehearsal_rewind(struct rehearsal *rehearsal);

/*
 * Advances the recorded run to the held event and begins a trial there. Held events must not go
 * backwards from trial to trial.
 */
void rehearsal_begin(struct rehearsal *rehearsal, const struct hold *hold, uint64_t events_most);
/*
 * Continues the trial until an event has its other outcome, which *out names. False: the trial is
 * over.
 */
bool rehearsal_next(struct rehearsal *rehearsal, struct event_id *out);
void rehearsal_end(struct rehearsal *rehearsal);
/* The schedule of the trial up to `goal`, the event returned last. */
void rehearsal_solution(
	const struct rehearsal *rehearsal, struct event_id goal, struct solution *out);

/* ---- rehearsal_terms.c ---- */

/* The value of a term of this thread in the trial. False: not known. */
bool rehearsal_value(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out);
/* The same without caching, for values that may still change. */
bool rehearsal_value_so_far(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out);

/* ---- rehearsal_waits.c ---- */

/*
 * Whether the thread, at the reads of its last recorded iteration of a waiting loop, would have to
 * iterate again. On true, *branch is the branch that would go the other way.
 */
bool rehearsal_must_wait(struct rehearsal *rehearsal, uint32_t thread, uint32_t *branch);
/*
 * The thread's next event is a branch that goes the other way. If that leaves a waiting loop early,
 * moves the thread behind the loop and returns true.
 */
bool rehearsal_leaves_early(struct rehearsal *rehearsal, uint32_t thread);
/*
 * Whether the event is a branch of a waiting loop. Its occurrence count matches the run only if no
 * step was skipped.
 */
bool rehearsal_is_wait(struct rehearsal *rehearsal, const struct walk_event *event);

/* ---- rehearsal.c, for the files above ---- */

/* Sets the read's variable to the current memory. False: the value is not known. */
bool rehearsal_read(
	struct rehearsal *rehearsal, struct player *player, const struct walk_event *event);
bool rehearsal_goes_as_it_went(const struct walk_event *event, uint64_t value);

/* ---- rehearsal_moves.c ---- */

/* Moves the player behind its next event and updates locks. */
void rehearsal_move_on(const struct rehearsal *rehearsal, struct player *player,
	struct lock_state *locks, uint32_t thread);
/*
 * The thread's next event is step number `step`. A thread that the event creates counts as having
 * moved at that step.
 */
void rehearsal_note_step(
	const struct rehearsal *rehearsal, struct player *players, uint32_t thread, uint64_t step);
/* Whether a try-lock that failed in the run would fail here, too. */
bool rehearsal_fails_as_it_did(
	const struct rehearsal *rehearsal, const struct player *player, uint32_t thread);
bool rehearsal_may_move(const struct rehearsal *rehearsal, uint32_t thread);
/*
 * No thread is enabled: releases one thread that is held with its group. REHEARSAL_NOBODY: no
 * thread is.
 */
uint32_t rehearsal_release_one(struct rehearsal *rehearsal);
/* The enabled thread that has not moved for longest. REHEARSAL_NOBODY: no thread is enabled. */
uint32_t rehearsal_longest_ago(const struct rehearsal *rehearsal);
/*
 * The enabled thread whose next event comes first in the run. REHEARSAL_NOBODY: no thread is
 * enabled.
 */
#define REHEARSAL_NOBODY UINT32_MAX
uint32_t rehearsal_first_to_move(const struct rehearsal *rehearsal);

/* ---- rehearsal_start.c ---- */

void rehearsal_list(struct rehearsal *rehearsal);

#endif
