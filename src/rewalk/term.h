/*
 * Values that depend on reads of shared memory: what was computed of them, with the value of this run.
 * A term refers to others; those of one walk live in one arena until it is over.
 */
#ifndef RADDLE_REWALK_TERM_H
#define RADDLE_REWALK_TERM_H

#include <stdint.h>

#include "rewalk/code.h"

/* Beside the ops of code.h, which mean the same here. */
enum term_op { TERM_VARIABLE = 128, TERM_CONSTANT };

struct term {
	uint8_t op; /* enum code_op or term_op */
	uint8_t sub;
	uint8_t width;	 /* bits of the value */
	uint8_t size;	 /* operations in it, at most 255 */
	uint32_t number; /* TERM_VARIABLE */
	uint64_t value;	 /* in this run */
	struct term *a, *b, *c;
};

#define TERMS_IN_A_BLOCK 4096

struct term_arena {
	struct term **blocks;
	uint32_t block_count;
	uint32_t used; /* of the last block */
	uint32_t variable_count;
};

struct term *term_variable(struct term_arena *arena, uint32_t width, uint64_t value);
struct term *term_constant(struct term_arena *arena, uint32_t width, uint64_t value);
/* Operands that an op does not have are NULL. */
struct term *term_make(struct term_arena *arena, const struct term *like);
void term_arena_release(struct term_arena *arena);

#endif
