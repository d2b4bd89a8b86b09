/*
 * Schedules tried without running them: the events of the recorded run in another order, with the values that they have then.
 * A thousand of these *trials* take as long as one question to a solver, however long the formula would be.
 *
 * A trial begins as the run did. At one event a thread is *held* back until another thread has come to a certain event, with as
 * little of the others as that takes, or else until none of the others can move; then all go on as they did in the run, what came
 * first there first. A thread whose
 * branch goes another way is as far as its events are known: it *stops* there, and the others go on. So does one that leaves what
 * is known otherwise: an address that the run did not access, code that has a value it never had. Loops that wait are an exception:
 * who would leave one earlier than in the run leaves it, and who would look again stands still until there is something to see.
 */
#ifndef RADDLE_BRANCHES_SOLVE_REHEARSAL_H
#define RADDLE_BRANCHES_SOLVE_REHEARSAL_H

#include "branches/solve/order.h"
#include "branches/solve/schedule.h"
#include "branches/solve/words.h"

/* Where a thread is, and what of it comes next: numbers in the lists below. */
struct player {
	uint32_t at;			    /* event */
	uint32_t edge, begin, end, failure; /* that is not before it */
	uint64_t moved;			    /* its last step: number of the steps up to then */
	uint32_t released; /* event that it waited before with its group, plus one; 0: none */
	uint64_t held;	   /* of a group: it came to `at` when so many events had happened */
	uint32_t changed;  /* the first variable with another value; UINT32_MAX: none */
	uint64_t
		waits; /* number of writes of the trial, plus one, when it saw that it must wait; 0: it does not */
	uint32_t skipped; /* steps of the run that it does not make */
	bool is_stopped;
};

/* By instruction: the way that leaves a loop that waits (loops.h). */
struct wait_slot {
	uint64_t key; /* of slots.h */
	int leaves;
};

struct done_event {
	struct event_id id;
	uint32_t skipped; /* of its thread, by then */
};

struct lock_state {
	uint32_t holder;  /* thread plus one; 0: nobody writes */
	uint32_t readers; /* of a read-write lock */
};

/* A variable or a term that has a value of its own in the trial. */
struct trial_value {
	uint32_t trial;
	uint64_t value;
};

struct trial_term {
	const struct term *term;
	struct trial_value value;
};

/* What is tried: a thread waits before its event `held` until `until` has happened. */
struct hold {
	struct event_id held;
	struct event_id until;
	bool is_long; /* until no other thread can move */
	/*
	 * So does every thread at each event of this group, from `held` on, as long as others can move; who is least far, or has
	 * waited longest, goes on first. 0: none.
	 */
	uint32_t group;
};

struct rehearsal {
	const struct walk *walk;
	const struct order *order;
	uint32_t thread_count;
	bool has_open_addresses;
	uint32_t **ranks;	      /* by thread and event: place in the order of the run */
	const uint32_t *groups;	      /* by that place; 0: of no group. NULL: there are none */
	const uint32_t *group_places; /* likewise: how far the thread is (chances.h) */
	struct words words;
	/* By thread, and one more: where its part of the lists begins. */
	uint32_t *first_edge, *first_end, *first_failure;
	uint32_t *ends; /* numbers of sections, thread by thread, by their ends */
	struct order_failure *failures;
	uint32_t *locks_of;	 /* by section: number of its lock */
	uint32_t *failure_locks; /* by failure */
	uint32_t lock_count;
	/* The run as it was, up to `rank`. */
	struct player *recorded;
	struct lock_state *recorded_locks;
	uint64_t rank;
	uint64_t recorded_steps;
	/* The trial. */
	struct hold hold;
	bool is_holding;
	struct player *players;
	struct lock_state *locks;
	uint64_t steps;	    /* made so far */
	uint64_t writes;    /* likewise */
	uint64_t turn_ends; /* steps after which another thread has its turn */
	uint32_t current;   /* thread that goes on; REHEARSAL_NOBODY: it is to be chosen */
	uint64_t total;	    /* events that have happened, those before the trial counted */
	uint64_t behind;    /* all that happened stands before this place in the order of the run */
	uint64_t room;	    /* events that it may still take */
	uint64_t look_at;   /* when it is next looked whether it is over */
	bool has_changes;   /* a variable has another value */
	uint32_t goal_skipped;	 /* of the thread of the event that was told, there */
	struct done_event *done; /* in their order */
	uint64_t done_count, done_capacity;
	struct trial_value *variables; /* by number */
	struct trial_term *terms;      /* open addressing; those of other trials are free */
	uint64_t term_capacity, term_count;
	uint64_t spent; /* events of all trials */
	struct wait_slot *waits;
	uint64_t wait_capacity, wait_count;
};

void rehearsal_open(
	struct rehearsal *rehearsal, const struct order *order, bool has_open_addresses);
void rehearsal_release(struct rehearsal *rehearsal);
void rehearsal_rewind(struct rehearsal *rehearsal);

/* Moves the run as it was up to the event that is held, which is not before the last trial's, and begins a trial. */
void rehearsal_begin(struct rehearsal *rehearsal, const struct hold *hold, uint64_t events_most);
/* Goes on until an event has its other outcome: *out. False: it is over. */
bool rehearsal_next(struct rehearsal *rehearsal, struct event_id *out);
void rehearsal_end(struct rehearsal *rehearsal);
/* The schedule of the trial so far, up to the event that it just told of. */
void rehearsal_solution(
	const struct rehearsal *rehearsal, struct event_id goal, struct solution *out);

/* ---- rehearsal_terms.c ---- */

/* The value of a term of this thread in the trial. False: it cannot be told. */
bool rehearsal_value(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out);
/* Likewise, of values that may yet be others: nothing is kept. */
bool rehearsal_value_so_far(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out);

/* ---- rehearsal_waits.c ---- */

/* The thread's next events are its last look before it left a loop that waits: would it have to look again? Then *branch says so. */
bool rehearsal_must_wait(struct rehearsal *rehearsal, uint32_t thread, uint32_t *branch);
/* The thread's next event, a branch, goes the other way. Does it leave such a loop by that? Then it is behind it now. */
bool rehearsal_leaves_early(struct rehearsal *rehearsal, uint32_t thread);
/* Is the event a branch of such a loop? How often it was reached is as in the run only if nothing was skipped. */
bool rehearsal_is_wait(struct rehearsal *rehearsal, const struct walk_event *event);

/* ---- rehearsal.c, for those ---- */

/* What is read has the value that it has now. False: it is not known. */
bool rehearsal_read(
	struct rehearsal *rehearsal, struct player *player, const struct walk_event *event);
bool rehearsal_goes_as_it_went(const struct walk_event *event, uint64_t value);

/* ---- rehearsal_moves.c ---- */

/* The thread's next event has happened. */
void rehearsal_move_on(const struct rehearsal *rehearsal, struct player *player,
	struct lock_state *locks, uint32_t thread);
/* The thread's next event is this step. Whom it creates counts as having moved then. */
void rehearsal_note_step(
	const struct rehearsal *rehearsal, struct player *players, uint32_t thread, uint64_t step);
/* Would an attempt that failed in the run fail here? */
bool rehearsal_fails_as_it_did(
	const struct rehearsal *rehearsal, const struct player *player, uint32_t thread);
bool rehearsal_may_move(const struct rehearsal *rehearsal, uint32_t thread);
/* Nobody else can move: one that waits with its group goes on. REHEARSAL_NOBODY: nobody waits so. */
uint32_t rehearsal_release_one(struct rehearsal *rehearsal);
/* Who has not moved for longest. REHEARSAL_NOBODY: no thread can move. */
uint32_t rehearsal_longest_ago(const struct rehearsal *rehearsal);
/* Who comes first in the run. REHEARSAL_NOBODY: no thread can move. */
#define REHEARSAL_NOBODY UINT32_MAX
uint32_t rehearsal_first_to_move(const struct rehearsal *rehearsal);

/* ---- rehearsal_start.c ---- */

void rehearsal_list(struct rehearsal *rehearsal);

#endif
