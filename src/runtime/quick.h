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
 * Where shared variables are points (MEMORY_LEARN), it is a table of *granules*, eight aligned bytes, that is
 * looked at: those of which the thread that moves has nothing more to tell, as they are no points, and those that are
 * points at which the strategy need not be asked (a lease, engine.h). Not in profiling runs, as these are there to
 * learn, nor, unless not all sites are on anyway, where threads wait by reading, as they have to be seen.
 *
 * One that is new in its episode goes to quick_passes(), which knows the most frequent cases; whatever
 * else there is goes to memory.c.
 */
#ifndef RADDLE_RUNTIME_QUICK_H
#define RADDLE_RUNTIME_QUICK_H

/* For site_thunk.S: of struct quick_now. */
#define QUICK_EPISODE 0
#define QUICK_TURN 8
#define QUICK_OWN_TAG 24
#define QUICK_LEASE 32
#define QUICK_POINT_TAG 48
#define QUICK_LEFT 56
/* sites_are_live, from least to most. */
#define SITES_QUIET 0
#define SITES_LIVE 1
#define SITES_QUICK 2

#include "abi/quick_table.h"

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

/* More bytes are no single access. */
#define QUICK_BYTES_MOST 64
/* Longer ranges are looked at anew each time. */
#define QUICK_RANGE_MOST 4096

#define QUICK_OWN (UINT64_C(1) << 63)
/* Above the number of any granule. */
#define QUICK_TAG (UINT64_C(1) << 44)

/* In the process. */
struct quick_now {
	/* turn: what keys of the thread's own memory begin with; own: the tag of granules of which it has no more to tell */
	struct engine_episodes engine;
	uint64_t point_tag; /* of granules that are points; 0: there are none yet */
	int32_t left;	    /* accesses until some are looked at for waiting, see quick.c */
};

_Static_assert(offsetof(struct quick_now, engine.episode) == QUICK_EPISODE &&
		       offsetof(struct quick_now, engine.turn) == QUICK_TURN &&
		       offsetof(struct quick_now, engine.own) == QUICK_OWN_TAG &&
		       offsetof(struct quick_now, engine.lease) == QUICK_LEASE &&
		       offsetof(struct quick_now, point_tag) == QUICK_POINT_TAG &&
		       offsetof(struct contract_quick, granules) ==
			       QUICK_PLACES * 2 * sizeof(struct quick_entry) &&
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

static inline uint64_t *quick_granule(
	struct contract_quick *quick, uint64_t granule, uint32_t properties)
{
	return &quick->granules[properties & 1][granule % QUICK_GRANULES];
}

/* What site_thunk.S does for sites; there, of 16 bytes, both granules have to have the same tag. */
static inline bool quick_is_granule_known(
	struct contract_quick *quick, struct quick_now *now, uint64_t address, uint32_t properties)
{
	const uint64_t granule = address >> QUICK_GRANULE_BITS;
	const uint64_t tag = *quick_granule(quick, granule, properties) ^ granule;

	if ((address + (properties >> 16) - 1) >> QUICK_GRANULE_BITS != granule)
		return false;
	return (tag == now->engine.own && --now->left >= 0) ||
	       (tag == now->point_tag && --now->engine.lease >= 0);
}

/* What site_thunk.S does for sites. */
static inline bool quick_is_repeated(
	struct contract_quick *quick, struct quick_now *now, uint64_t address, uint32_t properties)
{
	const struct quick_entry *entry = quick_entry(quick, address, properties);

	if (quick_is_granule_known(quick, now, address, properties))
		return true;
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
/* Likewise of a range, or of a string, and of granules only. */
bool quick_passes_range(uint64_t address, uint64_t bytes, bool is_write);
/*
 * It was looked at, is no point and is done with: others like it need nothing. `is_own`: nobody else is to be
 * told of it. General registers only.
 */
void quick_remember(uint64_t address, uint32_t properties, bool is_own);
/* Likewise of a range. */
void quick_remember_range(uint64_t address, uint64_t bytes, bool is_write);
/* It is a point, and so is all of its granule: others like it need nothing while there is a lease. */
void quick_remember_point(uint64_t address, uint32_t properties);
/* What has been said so is over: of this memory, which has another name, */
void quick_forget(uint64_t start, uint64_t bytes);
/* or of all, since somebody wants to see the next access. */
void quick_forget_all(void);

#endif
#endif
