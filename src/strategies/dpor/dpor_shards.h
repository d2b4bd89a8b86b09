/*
 * Shards of dpor's work: processes that know nothing of each other make every order between them, and each order once.
 *
 * A *pair* are two events of different threads about the same object, of which one changes it, so that every run that has
 * both has them in one order, and all runs of one trace in the same one. A pair that is settled makes another program out
 * of the one at hand: whoever comes to the second event waits until the first one has been. The two programs of a pair
 * share out the traces: where both events happen the order says whose a trace is; where one does, the one in which
 * that is first; where none does, it is the first program's, and made in vain by the other. In either of them
 * dpor is what it always is: nobody sleeps for what is done elsewhere, and every race that it meets is its own.
 *
 * Pairs that are settled one after the other, each found as a race in the first run of what those before it have left,
 * are a binary tree, and the way to a leaf is the number of a *class*. Classes are dealt out; a shard goes the ways to its own
 * ones, and does for each what dpor does.
 */
#ifndef RADDLE_STRATEGIES_DPOR_DPOR_SHARDS_H
#define RADDLE_STRATEGIES_DPOR_DPOR_SHARDS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

#define DPOR_PAIRS_MOST 24 /* on the way to a class: eight classes for each of 2^20 shards */
#define DPOR_TAUGHT_WORDS 16

/* The n-th op of a thread on an object, from 1. */
struct dpor_event {
	object_name object;
	uint32_t ordinal;
	uint8_t thread;	 /* slot */
	bool is_change;	 /* of those that are no OP_READ */
	uint32_t before; /* in the run at hand: so many of them have been */
};

/* The first of the two is the one that is no OP_READ. */
struct dpor_pair {
	struct dpor_event events[2];
	uint8_t lead; /* which of them has to be first; the other one waits for it */
};

struct dpor_share {
	uint32_t shard, shards; /* 0: it is whole */
	uint32_t levels;	/* pairs on the way to a class, at most */
	uint32_t block;		/* of as many classes as there are shards, one of which is ours */
	uint32_t leaf;		/* number of the class that is being made, or looked for */
	bool is_scouting;	/* this run only tells the next pair */
	bool is_elsewhere; /* the run at hand is none of ours: it teaches what all have to know */
	uint32_t pair_count;
	struct dpor_pair pairs[DPOR_PAIRS_MOST];
	uint64_t held;	 /* slots that wait for the first event of a pair, at the point at hand */
	bool is_held_up; /* the run cannot go on, but for those that are held */
	uint64_t
		taught[DPOR_TAUGHT_WORDS]; /* dpor's `racy` as all shards knew it when they began */
	uint64_t plan;			   /* hash of what all shards have to have in common */
};

struct dpor;
struct dpor_op;
struct dpor_step;
struct schedule_view;

/* All have been taught what to begin with: from here on it is one of the shards. */
void dpor_share_begin(struct dpor *dpor);
/* All of the class is made; false: there is no other. */
bool dpor_share_next(struct dpor *dpor);
/* A run that was to tell the next pair is over. */
void dpor_share_scouted(struct dpor *dpor);
/* The run at hand has all its steps below `depth` again. */
void dpor_share_recount(struct dpor *dpor);
/* Notes who is held. */
void dpor_share_look(struct dpor *dpor, const struct schedule_view *view);
/* That step is the run's next. */
void dpor_share_note(struct dpor *dpor, struct dpor_step *step);
/* Nobody can move but who is held: the run is over as far as the class is concerned. */
void dpor_share_hold_up(struct dpor *dpor);
/* Is the run that has ended another class's? */
bool dpor_share_is_in_vain(const struct dpor *dpor);
/* Bits of the pairs in which the op, pending in the run at hand, is the event that waits. */
uint32_t dpor_share_follows(const struct dpor *dpor, const struct dpor_op *op);

#endif
