/*
 * Schedules tried without running them: the events of the recorded run in another order, with the values that they have then.
 * A thousand of these *trials* take as long as one question to a solver, however long the formula would be.
 *
 * A trial begins as the run did. At one event a thread is *held* back until another thread has come to a certain event, with as
 * little of the others as that takes, or else until none of the others can move; then all go on as they did in the run, what came
 * first there first. A thread whose
 * branch goes another way is as far as its events are known: it *stops* there, and the others go on. So does one that leaves what
 * is known otherwise: an address that the run did not access, code that has a value it never had.
 */
#ifndef RADDLE_SENSITIVITY_REHEARSAL_H
#define RADDLE_SENSITIVITY_REHEARSAL_H

#include "sensitivity/order.h"
#include "sensitivity/schedule.h"
#include "sensitivity/words.h"

/* Where a thread is, and what of it comes next: numbers in the lists below. */
struct player {
	uint32_t at;			    /* event */
	uint32_t edge, begin, end, failure; /* that is not before it */
	uint64_t moved;			    /* its last step: number of the steps up to then */
	uint32_t changed; /* the first variable with another value; UINT32_MAX: none */
	bool is_stopped;
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
};

struct rehearsal {
	const struct walk *walk;
	const struct order *order;
	uint32_t thread_count;
	bool has_open_addresses;
	uint32_t **ranks; /* by thread and event: place in the order of the run */
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
	uint64_t steps;	  /* made so far */
	uint32_t current; /* thread that goes on; REHEARSAL_NOBODY: it is to be chosen */
	uint64_t total;	  /* events that have happened, those before the trial counted */
	uint64_t behind;  /* all that happened stands before this place in the order of the run */
	uint64_t room;	  /* events that it may still take */
	uint64_t look_at; /* when it is next looked whether it is over */
	bool has_changes; /* a variable has another value */
	struct event_id *done; /* in their order */
	uint64_t done_count, done_capacity;
	struct trial_value *variables; /* by number */
	struct trial_term *terms;      /* open addressing; those of other trials are free */
	uint64_t term_capacity, term_count;
	uint64_t spent; /* events of all trials */
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
/* The schedule of the trial so far, up to an event that it just told of. */
void rehearsal_solution(
	const struct rehearsal *rehearsal, struct event_id goal, struct solution *out);

/* ---- rehearsal_terms.c ---- */

/* The value of a term of this thread in the trial. False: it cannot be told. */
bool rehearsal_value(struct rehearsal *rehearsal, const struct player *player,
	const struct term *term, uint64_t *out);

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
/* Who comes first in the run. REHEARSAL_NOBODY: no thread can move. */
#define REHEARSAL_NOBODY UINT32_MAX
uint32_t rehearsal_first_to_move(const struct rehearsal *rehearsal);

/* ---- rehearsal_start.c ---- */

void rehearsal_list(struct rehearsal *rehearsal);

#endif
