/*
 * Values that depend on reads of shared memory: what was computed of them, with the value of this run.
 * A term refers to others; those of one walk live in one arena until it is over.
 */
#ifndef RADDLE_REWALK_TERM_H
#define RADDLE_REWALK_TERM_H

#include <stdbool.h>
#include <stdint.h>

#include "rewalk/code.h"
#include "rewalk/stretch.h"

/* Beside the ops of code.h, which mean the same here. */
enum term_op { TERM_VARIABLE = 128, TERM_CONSTANT };

struct term {
	uint8_t op; /* enum code_op or term_op */
	uint8_t sub;
	uint8_t width; /* bits of the value */
	uint8_t size;  /* operations in it, at most 255 */
	/*
	 * Once a term is *pinned* what follows is only known for its value. Where it is one-to-one in the only
	 * variable that it depends on, that one is *fixed* from there on, and so is all that depends on it alone.
	 */
	uint32_t is_pinned : 1;
	uint32_t is_fixed : 1;	    /* TERM_VARIABLE */
	uint32_t is_one_to_one : 1; /* has `sole`; no two of its values give one of the term */
	uint32_t is_told : 1;	    /* memory is accessed there, and an event says so */
	uint32_t number : 28;	    /* of the variable, or of the last one in it */
	uint64_t value;		    /* in this run */
	struct term *a, *b, *c;
	struct term *sole; /* the only variable in it; NULL: there are none, or more */
};

#define TERMS_RECENT 1024u

struct term_arena {
	struct stretch memory; /* of terms, `count` of them; opened with the first one */
	uint64_t count;
	uint32_t variable_count;
	struct term *recent[TERMS_RECENT]; /* constants, which are mostly the same ones */
};

/* Whatever it depends on is fixed: it is no more than its value. */
static inline bool term_is_fixed(const struct term *term)
{
	return term->sole && term->sole->is_fixed;
}

static inline struct term *term_new(struct term_arena *arena)
{
	const uint64_t end = (arena->count + 1) * sizeof(struct term);

	if (__builtin_expect(end > arena->memory.ready, 0))
		stretch_reach(&arena->memory, end);
	return (struct term *)(void *)arena->memory.memory + arena->count++;
}

/* All that follows from its op, value and operands. */
void term_complete(struct term *term);
struct term *term_variable(struct term_arena *arena, uint32_t width, uint64_t value);
struct term *term_constant(struct term_arena *arena, uint32_t width, uint64_t value);
/* Operands that an op does not have are NULL. */
static inline struct term *term_make(struct term_arena *arena, const struct term *like)
{
	struct term *term = term_new(arena);

	/* One by one: a copy would read what was only just written, in other pieces. */
	term->op = like->op;
	term->sub = like->sub;
	term->width = like->width;
	term->value = like->value;
	term->a = like->a;
	term->b = like->b;
	term->c = like->c;
	term_complete(term);
	return term;
}
/* Its value where a, b and c have these. False: it is not known how it is computed, or it is a division by zero. */
bool term_compute(const struct term *term, const uint64_t values[3], uint64_t *out);
/* False: it was pinned before, or is a constant. */
bool term_pin(struct term *term);
/* Without terms, and with the memory that it had. */
void term_arena_clear(struct term_arena *arena);
void term_arena_release(struct term_arena *arena);

#endif
