/*
 * What is remembered of each piece of memory: who accessed it last and how. A *granule* is eight
 * aligned bytes; its *cells* are groups of its bytes (a mask each, disjoint) that have been accessed
 * alike, so that neighbours do not race with each other. A cell holds, for each of four ways to
 * access memory, the latest accesses: one while they are ordered, one for each thread once they are
 * not (the adaptive representation of FastTrack, Flanagan and Freund, PLDI 2009, section 3).
 */
#ifndef RADDLE_DETECTORS_SHADOW_H
#define RADDLE_DETECTORS_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

#include "detectors/clock_pool.h"
#include "model/ids.h"

#define SHADOW_GRANULES (UINT32_C(1) << 19) /* slots; a power of two */
#define SHADOW_CELLS (UINT32_C(1) << 19)
#define SHADOW_GRANULE_BYTES 8u

/* How memory is accessed: what conflicts with what depends on nothing else. */
enum shadow_way { WAY_WRITE, WAY_READ, WAY_ATOMIC_WRITE, WAY_ATOMIC_READ, WAY_COUNT };

struct shadow_access {
	uint64_t site : 48; /* code lies in the lower half of the address space */
	uint64_t thread : 15;
	uint64_t is_update : 1; /* atomic: a read-modify-write */
	uint32_t clock;		/* of its thread at the time; 0: there is none */
	uint32_t step;		/* of more steps, the last that fits */
};

/* The step of an access, of which not all of it may be kept. */
static inline uint32_t shadow_step(uint64_t step)
{
	return step < UINT32_MAX ? (uint32_t)step : UINT32_MAX;
}

#define SHADOW_ACCESS_WORDS (sizeof(struct shadow_access) / sizeof(uint32_t))

/* The latest accesses of one way. */
struct shadow_accesses {
	struct shadow_access one; /* clock 0: none, or they are in the table */
	uint32_t table; /* in the pool: an access for each thread, by index; 0: no table */
	uint32_t table_words;
};

/* One line of the cache tells of plain accesses: the ways of atomic ones come last. */
struct shadow_cell {
	_Alignas(64) uint32_t next; /* index of the granule's next cell, 0: none */
	uint16_t releaser; /* thread + 1 of the store that the release sequence began with */
	uint8_t mask;	   /* bytes of the granule; 0: the cell is free */
	uint8_t ways;	   /* set of ways that have accesses: last[] means nothing of the others */
	struct shadow_accesses last[WAY_COUNT];
	struct vector_clock released; /* what an acquiring read of this memory learns */
};

struct shadow_granule {
	uint64_t number;     /* address / 8 */
	uint32_t generation; /* of the run that it is of: others are free slots */
	uint32_t cells;	     /* index of its first cell */
	object_name name;    /* of the memory: under another name its past is not this one's */
	uint32_t reserved;
};

struct shadow {
	uint32_t generation;
	uint32_t granule_count;
	uint32_t cell_count; /* cells handed out; index 0 is never */
	uint32_t free_cells; /* chain of cells that were given back */
	struct shadow_granule granules[SHADOW_GRANULES];
	struct shadow_cell cells[SHADOW_CELLS];
};

/* Forgets all memory, in constant time but for once in four billion runs. */
void shadow_clear(struct shadow *shadow);

/* The granule with that number (address / 8); NULL: it is not there. */
struct shadow_granule *shadow_seek(struct shadow *shadow, uint64_t number);
/*
 * The cells of the bytes in `mask` of the granule with that address: one after the other with
 * shadow_next(), together exactly the mask. Cells are split and made as needed. 0: there is no room.
 * The pool is that of the tables and clocks of the cells.
 */
uint32_t shadow_find(struct shadow *shadow, struct clock_pool *pool, uint64_t address,
	object_name name, uint8_t mask);
/* The next cell of the bytes, 0: it was the last. */
static inline uint32_t shadow_next(const struct shadow *shadow, uint32_t cell, uint8_t mask)
{
	do
		cell = shadow->cells[cell].next;
	while (cell && !(shadow->cells[cell].mask & mask));
	return cell;
}

/* ---- the accesses of one way ---- */

/* The thread's own latest; NULL: there is none. */
const struct shadow_access *shadow_of_thread(
	const struct shadow_accesses *accesses, const struct clock_pool *pool, uint32_t thread);
/*
 * Those that are not before `now`, in the order of threads: the one behind `last`, or the first where
 * that is NULL. NULL: there is no more.
 */
const struct shadow_access *shadow_unordered(const struct shadow_accesses *accesses,
	const struct clock_pool *pool, const struct vector_clock *now,
	const struct shadow_access *last);
/*
 * Adds an access at `now`. Where all others are before it, it replaces them. False: no memory is left
 * for a table, and one that is not before it is forgotten.
 */
bool shadow_add(struct shadow_cell *cell, enum shadow_way way, struct clock_pool *pool,
	const struct vector_clock *now, const struct shadow_access *access);
/* All accesses of the cell. */
void shadow_forget(struct shadow_cell *cell, struct clock_pool *pool);
/* Has no other thread accessed the cell, and nobody atomically? */
static inline bool shadow_is_own(const struct shadow_cell *cell, uint32_t thread)
{
	const struct shadow_accesses *writes = &cell->last[WAY_WRITE];
	const struct shadow_accesses *reads = &cell->last[WAY_READ];

	return !(cell->ways & ~(1u << WAY_WRITE | 1u << WAY_READ)) &&
	       (!(cell->ways >> WAY_WRITE & 1) ||
		       (!writes->table && writes->one.thread == thread)) &&
	       (!(cell->ways >> WAY_READ & 1) || (!reads->table && reads->one.thread == thread));
}

#endif
