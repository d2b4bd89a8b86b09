/*
 * Shadow memory of the race detector: the latest accesses of each piece of memory. A granule is
 * eight aligned bytes. Its cells are disjoint groups of bytes (masks) that were always accessed
 * together, so that accesses to neighbouring bytes do not race. A cell keeps the latest accesses
 * separately for four access kinds (enum shadow_kind). While the accesses of a kind are ordered,
 * only the last one is kept; otherwise one per thread. This is the adaptive representation of
 * FastTrack (Flanagan and Freund, PLDI 2009, section 3).
 *
 * The arrays lie in shared memory. Entries with another generation are free: a new run clears
 * everything in constant time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "detectors/clock_pool.h"
#include "model/ids.h"

#define SHADOW_GRANULES (UINT32_C(1) << 19) /* slots; a power of two */
#define SHADOW_CELLS (UINT32_C(1) << 19)
#define SHADOW_GRANULE_BYTES 8u

/* Kinds of access. These kinds alone determine whether two accesses conflict. */
enum shadow_kind {
	SHADOW_WRITE,
	SHADOW_READ,
	SHADOW_ATOMIC_WRITE,
	SHADOW_ATOMIC_READ,
	SHADOW_KINDS
};

struct shadow_access {
	uint64_t site : 48; /* code addresses lie in the lower half of the address space */
	uint64_t thread : 15;
	uint64_t is_update : 1; /* atomic: a read-modify-write */
	uint32_t clock;		/* epoch: the thread's own count at the access; 0: no access */
	uint32_t step;		/* saturates at UINT32_MAX */
};

/* Converts a step number, with saturation. */
static inline uint32_t shadow_step(uint64_t step)
{
	return step < UINT32_MAX ? (uint32_t)step : UINT32_MAX;
}

#define SHADOW_ACCESS_WORDS (sizeof(struct shadow_access) / sizeof(uint32_t))

struct shadow_accesses {
	struct shadow_access one; /* clock 0: no access, or the accesses are in the table */
	/* Index in the clock pool of an array of one access per thread; 0: no table */
	uint32_t table;
	uint32_t table_words;
};

/* The fields for plain accesses fill the first cache line; the atomic kinds are last. */
struct shadow_cell {
	_Alignas(64) uint32_t next; /* index of the granule's next cell, 0: none */
	uint16_t releaser; /* thread index + 1 of the store that began the release sequence */
	uint8_t mask;	   /* bytes of the granule; 0: the cell is free */
	uint8_t kinds;	   /* bit set of kinds with accesses; last[] is undefined for the others */
	struct shadow_accesses last[SHADOW_KINDS];
	struct vector_clock released; /* clock that an acquiring read of this memory joins */
};

struct shadow_granule {
	uint64_t number;     /* address / 8 */
	uint32_t generation; /* the slot is free if this differs from shadow.generation */
	uint32_t cells;	     /* index of its first cell */
	/* Name of the memory; a changed name means a new allocation without history */
	object_name name;
	uint32_t reserved;
};

struct shadow {
	uint32_t generation;
	uint32_t granule_count;
	uint32_t cell_count; /* cells allocated so far; index 0 is never allocated */
	uint32_t free_cells; /* free list of cells */
	struct shadow_granule granules[SHADOW_GRANULES];
	struct shadow_cell cells[SHADOW_CELLS];
};

/* Clears the shadow memory. Constant time, except once in four billion runs. */
void shadow_clear(struct shadow *shadow);

/* Returns the granule with that number (address / 8), or NULL. */
struct shadow_granule *shadow_seek(struct shadow *shadow, uint64_t number);
/* Returns the first cell of the bytes `mask` at `address`; shadow_next() returns the others. Splits
 * and creates cells so that they cover exactly the mask. 0: no memory is left. `pool` holds their
 * tables and clocks. */
uint32_t shadow_find(struct shadow *shadow, struct clock_pool *pool, uint64_t address,
	object_name name, uint8_t mask);
/* Returns the next cell that covers bytes of the mask, 0: none. */
static inline uint32_t shadow_next(const struct shadow *shadow, uint32_t cell, uint8_t mask)
{
	do
		cell = shadow->cells[cell].next;
	while (cell && !(shadow->cells[cell].mask & mask));
	return cell;
}

/* ---- the accesses of one kind ---- */

/* Returns the thread's own latest access, or NULL. */
const struct shadow_access *shadow_of_thread(
	const struct shadow_accesses *accesses, const struct clock_pool *pool, uint32_t thread);
/* Returns the next access that does not happen before `now`. `last`: the previous one, NULL at
 * first. */
const struct shadow_access *shadow_unordered(const struct shadow_accesses *accesses,
	const struct clock_pool *pool, const struct vector_clock *now,
	const struct shadow_access *last);
/* Stores the access, and discards the others if all happen before `now`. Returns false if there is
 * no memory for a table; one access may be lost then. */
bool shadow_add(struct shadow_cell *cell, enum shadow_kind kind, struct clock_pool *pool,
	const struct vector_clock *now, const struct shadow_access *access);
/* Discards all accesses of the cell. */
void shadow_forget(struct shadow_cell *cell, struct clock_pool *pool);
/* Returns whether only this thread accessed the cell, and only with plain accesses. */
static inline bool shadow_is_own(const struct shadow_cell *cell, uint32_t thread)
{
	const struct shadow_accesses *writes = &cell->last[SHADOW_WRITE];
	const struct shadow_accesses *reads = &cell->last[SHADOW_READ];

	return !(cell->kinds & ~(1u << SHADOW_WRITE | 1u << SHADOW_READ)) &&
	       (!(cell->kinds >> SHADOW_WRITE & 1) ||
		       (!writes->table && writes->one.thread == thread)) &&
	       (!(cell->kinds >> SHADOW_READ & 1) ||
		       (!reads->table && reads->one.thread == thread));
}
