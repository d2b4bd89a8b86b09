/* Work memory that the walks of threads reuse: zeroing of pages would dominate short walks. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "branches/record/record.h"

#define FRAMES_MOST (UINT32_C(1) << 20)
#define REGISTERS_MOST (UINT64_C(1) << 27)
#define LOCALS_MOST (UINT64_C(1) << 32)
#define SEEN_SLOTS 16384u
#define WALK_LINES (UINT64_C(1) << 16)
/* walk_room.memory is cleared page by page, only where it was written. */
#define ROOM_PAGE_BITS 12
#define ROOM_PAGES ((RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK) >> ROOM_PAGE_BITS)

/* `values` and `seen` are cleared in groups of this many slots, only where they were written. */
#define ROOM_SLOTS 64u

struct frame;
struct library_walk;
struct term;

struct walk_room {
	struct frame *frames; /* FRAMES_MOST entries, undefined contents */
	uint64_t *registers;  /* REGISTERS_MOST entries, undefined contents */
	struct term **terms;  /* REGISTERS_MOST entries, undefined contents */
	uint8_t *locals;      /* LOCALS_MOST bytes, all zero */
	uint8_t *memory;      /* predicted memory, record_slot_of(); all zero */
	uint8_t *touched;     /* by page of `memory`: 1 if written */
	uint64_t *values;     /* RECORD_VALUES, all zero */
	uint8_t reported[RECORD_VALUES / ROOM_SLOTS]; /* by group of `values`: 1 if written */
	uint64_t *seen;				      /* SEEN_SLOTS, all zero */
	uint8_t looked[SEEN_SLOTS / ROOM_SLOTS];      /* by group of `seen`: 1 if written */
	uint64_t *shadow_lines;			      /* bit set of WALK_LINES, empty */
	struct library_walk *library;		      /* undefined contents */
};

/* Notes that the slot is used. `parts`: `reported` or `looked`. */
static inline void walk_room_note(uint8_t *parts, uint64_t slot)
{
	parts[slot / ROOM_SLOTS] = 1;
}

/* Makes a room. Its arrays have the contents that the comments of the members promise. */
struct walk_room *walk_room_new(void);
void walk_room_free(struct walk_room *room);
/* Restores these contents after a walk that used `locals` bytes of locals. */
void walk_room_clear(struct walk_room *room, uint64_t locals);
