/*
 * The fast path of memory accesses, for runs in which most accesses yield no new information.
 *
 * With MEMORY_RACES plain accesses are no scheduling points, and the race detector needs only the
 * first of equal accesses in an *epoch*. An epoch is a span in which one thread accesses memory and
 * nothing orders threads (engine_count_epochs()). site_thunk.S compares each access with a table of
 * the latest ones: same address, same properties of the site's record, same epoch. An access found
 * in the table needs no further work, because neither detector nor knowledge about variables
 * depends on the particular site. A site that was never examined stays on. Accesses to unshared
 * memory are examined once per thread.
 *
 * With MEMORY_LEARN the table holds *granules*, eight aligned bytes each. A granule in the table
 * has one of two properties. It is no point, and the moving thread has nothing to report about it;
 * or it is a point, and a lease (engine.h) permits the access.
 *
 * quick_passes() handles the most frequent accesses that are new in their epoch, memory.c the rest.
 */
#pragma once

/* Offsets in struct quick_now, for site_thunk.S. */
#define QUICK_EPOCH 0
#define QUICK_SLICE_KEY 8
#define QUICK_OWN_TAG 24
#define QUICK_LEASE 32
#define QUICK_POINT_TAG 48
#define QUICK_LEFT 56
/* Values of sites_are_live, from the least to the most reporting path. */
#define SITES_OFF 0
#define SITES_LIVE 1
#define SITES_QUICK 2

#include "abi/quick_table.h"

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

#define QUICK_BYTES_MOST 64
/* longer ranges are examined each time */
#define QUICK_RANGE_MOST 4096

#define QUICK_OWN (UINT64_C(1) << 63)
/* Tags are multiples of this, above the number of any granule. */
#define QUICK_TAG (UINT64_C(1) << 44)

struct quick_now {
	/* engine.slice_key: upper part of keys of the thread's own memory. engine.slice_tag: tag
	 * of granules about which the thread has nothing more to report. */
	struct engine_epochs engine;
	/* Tag of granules that are points; ENGINE_NO_TAG: no such granule yet. 0 would be the tag
	 * of the granule of null pointers in an empty table. */
	uint64_t point_tag;
	/* Accesses until the next sample is examined for threads that wait by reading (quick.c) */
	int32_t left;
};

_Static_assert(offsetof(struct quick_now, engine.epoch) == QUICK_EPOCH &&
		       offsetof(struct quick_now, engine.slice_key) == QUICK_SLICE_KEY &&
		       offsetof(struct quick_now, engine.slice_tag) == QUICK_OWN_TAG &&
		       offsetof(struct quick_now, engine.lease) == QUICK_LEASE &&
		       offsetof(struct quick_now, point_tag) == QUICK_POINT_TAG &&
		       offsetof(struct contract_quick, granules) ==
			       QUICK_SETS * 2 * sizeof(struct quick_entry) &&
		       offsetof(struct quick_now, left) == QUICK_LEFT,
	"site_thunk.S knows another number of sets");

/* The last word of a struct site_record. The table holds only plain loads and stores. */
static inline uint32_t quick_properties(uint8_t kind, uint8_t order, uint16_t bytes)
{
	return (uint32_t)kind | (uint32_t)order << 8 | (uint32_t)bytes << 16;
}

static inline struct quick_entry *quick_entry(
	struct contract_quick *quick, uint64_t address, uint32_t properties)
{
	return &quick->entries[address / 4 % QUICK_SETS][properties & 1];
}

static inline uint64_t *quick_granule(
	struct contract_quick *quick, uint64_t granule, uint32_t properties)
{
	return &quick->granules[properties & 1][granule % QUICK_GRANULES];
}

/* Makes the same tests as site_thunk.S. For 16 bytes the thunk requires the same tag for both
 * granules. */
static inline bool quick_is_granule_known(
	struct contract_quick *quick, struct quick_now *now, uint64_t address, uint32_t properties)
{
	const uint64_t granule = address >> QUICK_GRANULE_BITS;
	const uint64_t tag = *quick_granule(quick, granule, properties) ^ granule;

	if ((address + (properties >> 16) - 1) >> QUICK_GRANULE_BITS != granule)
		return false;
	return (tag == now->engine.slice_tag && --now->left >= 0) ||
	       (tag == now->point_tag && --now->engine.lease >= 0);
}

static inline bool quick_is_repeated(
	struct contract_quick *quick, struct quick_now *now, uint64_t address, uint32_t properties)
{
	const struct quick_entry *entry = quick_entry(quick, address, properties);

	if (quick_is_granule_known(quick, now, address, properties))
		return true;
	return entry->address == address &&
	       (entry->key == (now->engine.epoch | properties) ||
		       entry->key == (now->engine.slice_key | properties)) &&
	       --now->left >= 0;
}

/* Sets sites_are_live and sites_quick for the run that begins. */
void quick_begin_run(void);
/* Called when the run continues from a checkpoint of a run that may have had other points. */
void quick_resume_run(void);
/* Returns whether a detector wants accesses that are no points. */
bool quick_has_reports(void);
/* Counts an access that is no point. Returns whether memory.c examines if the thread waits. */
bool quick_watches(void);
/* Called when memory.c has found that the thread waits. */
void quick_watch_longer(void);
/* Handles an access that is new in its epoch. `state`: the byte of its site; NULL means none.
 * Returns true if no further work is needed. General registers only. */
bool quick_passes(uint64_t address, uint32_t properties, uint64_t site, uint8_t *state);
/* Same as quick_passes(), for a range or a string; granules only. */
bool quick_passes_range(uint64_t address, uint64_t bytes, bool is_write);
/* Remembers an examined access that is no point: equal accesses need no further work. `is_own`:
 * unshared memory, whose entry holds in later epochs of the thread, too. General registers only. */
void quick_remember(uint64_t address, uint32_t properties, bool is_own);
void quick_remember_range(uint64_t address, uint64_t bytes, bool is_write);
/* Remembers a granule that is a point as a whole: equal accesses need no further work during a
 * lease. */
void quick_remember_point(uint64_t address, uint32_t properties);
/* Removes the entries of memory whose name has changed. */
void quick_forget(uint64_t start, uint64_t bytes);
/* Removes all entries, because an observer needs the next access. */
void quick_forget_all(void);

#endif
