/*
 * Values that depend on reads of shared memory: what was computed of them, with the value of this run.
 * A term refers to others; those of one walk live in one arena until it is over.
 */
#ifndef RADDLE_BRANCHES_INTERPRET_TERM_H
#define RADDLE_BRANCHES_INTERPRET_TERM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "branches/interpret/code.h"
#include "branches/interpret/stretch.h"

/* Beside the ops of code.h, which mean the same here. */
enum term_op { TERM_VARIABLE = 128, TERM_CONSTANT };

/*
 * There are millions, and each is written to memory that is touched for the first time: so operands are kept as how far they
 * stand before it, and variables and constants, which have none, end before them.
 */
struct term {
	uint8_t op; /* enum code_op or term_op */
	uint8_t sub;
	uint8_t width; /* bits of the value */
	uint8_t size;  /* operations in it, at most 255 */
	union {
		/*
		 * Once a term is *pinned* what follows is only known for its value. Where it is one-to-one in the only
		 * variable that it depends on, that one is *fixed* from there on, and so is all that depends on it alone.
		 */
		struct {
			uint32_t is_pinned : 1;
			uint32_t is_fixed : 1; /* TERM_VARIABLE */
			/* There is term_sole(); no two of its values give one of the term. */
			uint32_t is_one_to_one : 1;
			uint32_t is_told : 1; /* memory is accessed there, and an event says so */
			uint32_t number : 28; /* of the variable, or of the last one in it */
		};
		uint32_t
			bits; /* all of them: to write one in new memory would be to wait for what is there */
	};
	uint64_t value;	      /* in this run */
	uint32_t operands[3]; /* in TERM_UNITs before it; 0: there is none */
	uint32_t sole;	      /* likewise: see term_sole() */
};

#define TERM_UNIT 16u
/* Of one without operands. */
#define TERM_LEAF_BYTES offsetof(struct term, operands)

/* What term_make() makes a term of. Operands that an op does not have are NULL. */
struct term_like {
	uint8_t op, sub, width;
	uint64_t value;
	struct term *a, *b, *c;
};

#define TERMS_RECENT 1024u

struct term_arena {
	struct stretch memory; /* of terms, one behind the other; opened with the first one */
	uint64_t used;	       /* bytes of it */
	uint32_t variable_count;
	struct term *recent[TERMS_RECENT]; /* constants, which are mostly the same ones */
};

static inline bool term_is_leaf(const struct term *term)
{
	return term->op >= TERM_VARIABLE;
}

/* So many units before it. Terms are the arena's: whoever has one may have those before it. */
static inline struct term *term_before(const struct term *term, uint32_t units)
{
	return (struct term *)((uintptr_t)term - (uintptr_t)units * TERM_UNIT);
}

/* The first, second or third one (0 to 2); NULL: there is none. */
static inline struct term *term_operand(const struct term *term, uint32_t number)
{
	return term_is_leaf(term) || !term->operands[number]
		       ? NULL
		       : term_before(term, term->operands[number]);
}

/* The only variable in it; NULL: there are none, or more. */
static inline struct term *term_sole(const struct term *term)
{
	if (term->op == TERM_VARIABLE)
		return term_before(term, 0);
	return term_is_leaf(term) || !term->sole ? NULL : term_before(term, term->sole);
}

/* Whatever it depends on is fixed: it is no more than its value. */
static inline bool term_is_fixed(const struct term *term)
{
	const struct term *sole = term_sole(term);

	return sole && sole->is_fixed;
}

/*
 * Where a term stands in its arena, and the term that stands there. Nothing does at 0: that is NULL's.
 */
static inline uint32_t term_place(const struct term_arena *arena, const struct term *term)
{
	return term ? (uint32_t)(((uintptr_t)term - (uintptr_t)arena->memory.memory) / TERM_UNIT)
		    : 0;
}

static inline struct term *term_at(const struct term_arena *arena, uint32_t place)
{
	return place ? (struct term *)(void *)(arena->memory.memory + (uint64_t)place * TERM_UNIT)
		     : NULL;
}

/* Of so many bytes. */
static inline struct term *term_new(struct term_arena *arena, uint64_t bytes)
{
	const uint64_t begin = arena->used ? arena->used : TERM_UNIT;

	arena->used = begin + bytes;
	if (__builtin_expect(arena->used > arena->memory.ready, 0))
		stretch_reach(&arena->memory, arena->used);
	return (struct term *)(void *)(arena->memory.memory + begin);
}

struct term *term_variable(struct term_arena *arena, uint32_t width, uint64_t value);
struct term *term_constant(struct term_arena *arena, uint32_t width, uint64_t value);
/* Of an op that has operands. */
struct term *term_make(struct term_arena *arena, const struct term_like *like);
/* Its value where its operands have these. False: it is not known how it is computed, or it is a division by zero. */
bool term_compute(const struct term *term, const uint64_t values[3], uint64_t *out);
/* False: it was pinned before, or is a constant. */
bool term_pin(struct term *term);
/* Without terms, and with the memory that it had. */
void term_arena_clear(struct term_arena *arena);
void term_arena_release(struct term_arena *arena);

#endif
