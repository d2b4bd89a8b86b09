/*
 * The short way of accesses where races are looked for and plain accesses are no scheduling points
 * (MEMORY_RACES): most tell nothing new.
 *
 * An access that is like an earlier one of its *episode* (engine_count_episodes(): one thread's accesses
 * with nothing between them that orders threads) needs nothing at all. That is found out in site_thunk.S, by a
 * table of the latest such accesses: same address, same properties of the site's record, same episode. Which
 * one of several sites it was makes no difference to the detector, nor to what is learnt of variables; what is
 * learnt of sites can wait, since one that has never been looked at stays on.
 *
 * What is not shared is looked at only once by each thread: that it touches it, and how, was learnt then.
 *
 * Runs of a strategy that needs few variables (focus.h) use the same table: whatever is no point is looked
 * at once by each thread.
 *
 * One that is new in its episode goes to quick_passes(), which knows the most frequent cases; whatever
 * else there is goes to memory.c.
 */
#ifndef RADDLE_RUNTIME_QUICK_H
#define RADDLE_RUNTIME_QUICK_H

/* For site_thunk.S: of struct quick_now. */
#define QUICK_EPISODE 0
#define QUICK_TURN 8
#define QUICK_LEFT 24
/* Places of the table for each kind of access, a power of two: four bytes each, so of 32 kB of neighbours. */
#define QUICK_PLACES 8192
/* sites_are_live, from least to most. */
#define SITES_QUIET 0
#define SITES_LIVE 1
#define SITES_QUICK 2

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* More bytes are no single access. */
#define QUICK_BYTES_MOST 64

#define QUICK_OWN (UINT64_C(1) << 63)

struct quick_entry {
	uint64_t address;
	/* The episode, or QUICK_OWN and what tells thread and run; below ENGINE_EPISODE, quick_properties(). */
	uint64_t key;
};

/* In the contract, so that no rewind has to restore it: no number comes back in another run. [guest] */
struct contract_quick {
	_Alignas(16) struct quick_entry entries[QUICK_PLACES][2]; /* SITE_LOAD, SITE_STORE */
	uint64_t episode;					  /* the latest of all */
	uint64_t ownership; /* number of the run, or of a part of it: of keys of own memory */
};

/* In the process. */
struct quick_now {
	struct engine_episodes engine; /* turn: what keys of the thread's own memory begin with */
	int32_t left; /* accesses until some are looked at for waiting, see quick.c */
};

_Static_assert(offsetof(struct quick_now, engine.episode) == QUICK_EPISODE &&
		       offsetof(struct quick_now, engine.turn) == QUICK_TURN &&
		       offsetof(struct quick_now, left) == QUICK_LEFT,
	"site_thunk.S knows other places");

/* The last word of a struct site_record. Nothing but a plain load or store is ever in the table. */
static inline uint32_t quick_properties(uint8_t kind, uint8_t order, uint16_t bytes)
{
	return (uint32_t)kind | (uint32_t)order << 8 | (uint32_t)bytes << 16;
}

static inline struct quick_entry *quick_entry(
	struct contract_quick *quick, uint64_t address, uint32_t properties)
{
	return &quick->entries[address / 4 % QUICK_PLACES][properties & 1];
}

/* What site_thunk.S does for sites. */
static inline bool quick_is_repeated(
	struct contract_quick *quick, struct quick_now *now, uint64_t address, uint32_t properties)
{
	const struct quick_entry *entry = quick_entry(quick, address, properties);

	return entry->address == address &&
	       (entry->key == (now->engine.episode | properties) ||
		       entry->key == (now->engine.turn | properties)) &&
	       --now->left >= 0;
}

/* A run begins: sets sites_are_live and sites_quick. */
void quick_begin_run(void);
/* Likewise, of a run that goes on from a checkpoint of one that may have had other points. */
void quick_resume_run(void);
/*
 * An access with these properties, new in its episode; `state`: of its site, NULL: it has none. True:
 * it is done with. General registers only.
 */
bool quick_passes(uint64_t address, uint32_t properties, uint64_t site, uint8_t *state);
/*
 * It was looked at, is no point and is done with: others like it need nothing. `is_own`: nobody else is to be
 * told of it. General registers only.
 */
void quick_remember(uint64_t address, uint32_t properties, bool is_own);
/* What has been said so is over: of this memory, which has another name, */
void quick_forget(uint64_t start, uint64_t bytes);
/* or of all, since somebody wants to see the next access. */
void quick_forget_all(void);

#endif
#endif
