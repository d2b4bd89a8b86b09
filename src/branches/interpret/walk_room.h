/*
 * The memory that one thread's walk works in: kept from one thread to the next, and from one walk to the next. Most
 * of a walk of short threads was the kernel's work: giving zeroed pages and taking them back.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_WALK_ROOM_H
#define RADDLE_BRANCHES_INTERPRET_WALK_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "branches/record/record.h"

#define FRAMES_MOST (UINT32_C(1) << 20)
#define REGISTERS_MOST (UINT64_C(1) << 27)
#define LOCALS_MOST (UINT64_C(1) << 32)
#define SEEN_SLOTS 16384u
#define WALK_LINES (UINT64_C(1) << 16)
/* Of walk_room.memory: what was written to is known by pages. */
#define ROOM_PAGE_BITS 12
#define ROOM_PAGES ((RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK) >> ROOM_PAGE_BITS)

/* Of `values` and `seen`, likewise, by so many slots. */
#define ROOM_SLOTS 64u

struct frame;
struct term;
struct compared;

struct walk_room {
	struct frame *frames; /* FRAMES_MOST; what stands there is anything */
	uint64_t *registers;  /* REGISTERS_MOST; likewise */
	struct term **terms;  /* likewise */
	uint8_t *locals;      /* LOCALS_MOST bytes, all zero */
	uint8_t *memory;      /* as the recorder's: record_place_of(); all zero */
	uint8_t *touched;     /* by pages of `memory`: 1 where something was written */
	uint64_t *values;     /* RECORD_VALUES, all zero */
	uint8_t told[RECORD_VALUES / ROOM_SLOTS]; /* 1 where some of those slots were written */
	uint64_t *seen;				  /* SEEN_SLOTS, all zero */
	uint8_t looked[SEEN_SLOTS / ROOM_SLOTS];  /* likewise */
	uint64_t *shadow_lines;			  /* bit set of WALK_LINES, empty */
	struct compared *compared; /* walk_compare.c; NULL: nothing was compared yet */
};

/* The slot was written; `parts`: `told` or `looked`. */
static inline void walk_room_note(uint8_t *parts, uint64_t slot)
{
	parts[slot / ROOM_SLOTS] = 1;
}

/* With all that its members say. */
struct walk_room *walk_room_new(void);
void walk_room_free(struct walk_room *room);
/* As new, after a walk that used so many bytes of locals. */
void walk_room_clear(struct walk_room *room, uint64_t locals);

#endif
