/*
 * Shards of dpor's search: independent processes that together explore every order exactly once.
 *
 * A *pair* consists of two events of different threads on the same bytes of an object, at least one
 * of them a write. A settled pair turns the program into two: in each, the thread at the waiting event is
 * held until the leading event has happened. The two programs share the traces:
 * - With both events, the order decides.
 * - With one event, the trace belongs to the program in which that event leads.
 * - With neither, the trace belongs to the first program; in the second it is redundant.
 *
 * Within each program dpor is unchanged. Pairs are settled one after the other, each a race of the
 * first run of the program that the earlier pairs define. The decisions form a binary tree; the
 * path to a leaf is the number of a *class*. A shard runs dpor for each of its classes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"
#include "strategies/dpor/dpor_symmetry.h"

#define DPOR_PAIRS_MOST 24 /* maximum depth of the tree: eight classes for each of 2^20 shards */
/* Size of the set of raced objects (struct dpor, racy), in words of 64 bits. The set has one bit for each hash of a name.
 * If it is too small, unraced locks have the bits of raced ones, and the search delays threads that need no delay: two
 * successive runs then differ early, and checkpoints save little. */
#define DPOR_RACY_WORDS 256

struct dpor_event {
	object_name object;
	uint32_t ordinal;
	uint8_t thread; /* slot */
	bool is_change; /* an op that is no read; `ordinal` counts only such ops */
	/* complement of the bytes that every such op touches, so that the events are dependent */
	uint8_t untouched;
	uint32_t before; /* number of such ops so far in the current run */
};

struct dpor_pair {
	struct dpor_event events[2];
	uint8_t lead; /* index of the event that must happen first; the other event waits */
};

struct dpor_share {
	uint32_t shard, shards; /* 0: no shards */
	uint32_t levels;	/* maximum number of pairs on the path to a class */
	/* leading pairs that every class has: those of interchangeable threads */
	uint32_t fixed_count;
	/* current block of classes; each block has one class per shard */
	uint32_t block;
	uint32_t leaf;	  /* number of the class that is explored or searched for */
	bool is_scouting; /* this run only finds the next pair */
	/* every shard makes this run, which belongs to no class of this one */
	bool is_elsewhere;
	uint32_t pair_count; /* including the fixed pairs */
	struct dpor_pair pairs[DPOR_SYMMETRY_PAIRS + DPOR_PAIRS_MOST];
	uint64_t held;	 /* slots held at the current point until the first event of a pair */
	bool is_held_up; /* all enabled threads are held: the run cannot continue */
	/* `racy` after the learning runs, equal in all shards */
	uint64_t taught[DPOR_RACY_WORDS];
	uint64_t plan; /* hash of the facts that must be equal in all shards */
};

struct dpor;
struct dpor_op;
struct dpor_step;
struct schedule_view;

/* The learning runs are complete: this state becomes one of the shards. */
void dpor_share_begin(struct dpor *dpor);
/* Returns false if no class is left. */
bool dpor_share_next(struct dpor *dpor);
void dpor_share_scouted(struct dpor *dpor);
/* The next run repeats the first `depth` steps of the last one. */
void dpor_share_begin_run(struct dpor *dpor);
void dpor_share_look(struct dpor *dpor, const struct schedule_view *view);
void dpor_share_note(struct dpor *dpor, struct dpor_step *step);
/* Takes dpor_share_note() of the last step back. */
void dpor_share_strike(struct dpor *dpor, const struct dpor_step *step);
/* Called when all enabled threads are held: the run ends for this class. */
void dpor_share_hold_up(struct dpor *dpor);
/* Returns whether the ended run belongs to another class, or was redundant. */
bool dpor_share_is_redundant(const struct dpor *dpor);
/* Bits of the pairs for which this pending op is the waiting event. */
uint64_t dpor_share_follows(const struct dpor *dpor, const struct dpor_op *op);
