/*
 * Symbolic values: expressions over *variables*, which are reads of shared memory and outcomes of
 * operations. A term is a node of such an expression, with its value in this run. The terms of one
 * walk lie in one arena and are freed together.
 *
 * A term is *pinned* (concretised) when the rest of the walk is only valid for the value of this
 * run. A variable is *fixed* when a pinned term determines it. Everything that depends on a fixed
 * variable alone is then a constant.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "branches/decode/code.h"
#include "branches/values/stretch.h"

/* The operations of code.h have the same meaning in terms. */
enum term_op { TERM_VARIABLE = 128, TERM_CONSTANT };

/* A term is small, as a walk creates millions of them. Operands are distances to earlier terms. */
struct term {
	uint8_t op; /* enum code_op or term_op */
	uint8_t sub;
	uint8_t width; /* bits of the value */
	uint8_t size;  /* number of operations in the expression, at most 255 */
	union {
		/* Pinning a one-to-one term also fixes its only variable. */
		struct {
			uint32_t is_pinned : 1;
			uint32_t is_fixed : 1; /* TERM_VARIABLE: see the file comment */
			/* Depends on term_sole() only and is injective in it */
			uint32_t is_one_to_one : 1;
			/* An event already reports the memory access at this address */
			uint32_t is_reported : 1;
			/* Number of the variable, or of the newest variable in the term */
			uint32_t number : 28;
		};
		/* all flags and the number, set by one store: fresh memory is not read first */
		uint32_t bits;
	};
	uint64_t value;	      /* value in this run */
	uint32_t operands[3]; /* distances to the operands in TERM_UNITs; 0: none */
	uint32_t sole;	      /* distance to the only variable, see term_sole(); 0: none */
};

#define TERM_UNIT 16u
/* Size of a term without operands. */
#define TERM_LEAF_BYTES offsetof(struct term, operands)

/* A term to be made, by its parts. Missing operands are NULL. */
struct term_like {
	uint8_t op, sub, width;
	uint64_t value;
	struct term *a, *b, *c;
};

#define TERMS_RECENT 1024u

struct term_arena {
	struct stretch memory; /* the terms, one after the other; opened with the first term */
	uint64_t used;	       /* bytes in use */
	uint32_t variable_count;
	/* The latest constant of each hash value */
	struct term *recent[TERMS_RECENT];
};

static inline bool term_is_leaf(const struct term *term)
{
	return term->op >= TERM_VARIABLE;
}

/* Returns a term before this one. The result is not const, because the arena owns all terms, which
 * are mutable. */
static inline struct term *term_before(const struct term *term, uint32_t units)
{
	return (struct term *)((uintptr_t)term - (uintptr_t)units * TERM_UNIT);
}

static inline struct term *term_operand(const struct term *term, uint32_t number)
{
	return term_is_leaf(term) || !term->operands[number]
		       ? NULL
		       : term_before(term, term->operands[number]);
}

/* Returns the only variable in the term; NULL if there is no variable, or several. */
static inline struct term *term_sole(const struct term *term)
{
	if (term->op == TERM_VARIABLE)
		return term_before(term, 0);
	return term_is_leaf(term) || !term->sole ? NULL : term_before(term, term->sole);
}

/* Returns whether a pinned term determines this one, which is then equivalent to its value. */
static inline bool term_is_fixed(const struct term *term)
{
	const struct term *sole = term_sole(term);

	return sole && sole->is_fixed;
}

/* Returns a term's index in the arena. Index 0 stands for NULL. */
static inline uint32_t term_index(const struct term_arena *arena, const struct term *term)
{
	return term ? (uint32_t)(((uintptr_t)term - (uintptr_t)arena->memory.memory) / TERM_UNIT)
		    : 0;
}

static inline struct term *term_at(const struct term_arena *arena, uint32_t index)
{
	return index ? (struct term *)(void *)(arena->memory.memory + (uint64_t)index * TERM_UNIT)
		     : NULL;
}

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
struct term *term_make(struct term_arena *arena, const struct term_like *like);
/* These functions (term_operation.c) make the term of an operation. Both operands have one width. The
 * result of constants is a constant. */
struct term *term_binary(
	struct term_arena *arena, LLVMOpcode opcode, struct term *a, struct term *b);
struct term *term_comparison(
	struct term_arena *arena, LLVMIntPredicate predicate, struct term *a, struct term *b);
/* Returns a term with the value of `yes` where the condition, a term of one bit, is 1, and with that
 * of `no` elsewhere. */
struct term *term_selection(
	struct term_arena *arena, struct term *condition, struct term *yes, struct term *no);
/* Returns the term with 64 bits. */
struct term *term_extended(struct term_arena *arena, struct term *term, bool is_signed);
/* Returns the term with `width` bits: cut, or extended by zeros. */
struct term *term_resized(struct term_arena *arena, struct term *term, uint32_t width);
/* Returns the term of `bytes` bytes of `word`, from byte `first` on. */
struct term *term_bytes(
	struct term_arena *arena, struct term *word, uint32_t first, uint32_t bytes);
/* Returns false for an unsupported operation or a division by zero. */
bool term_compute(const struct term *term, const uint64_t values[3], uint64_t *out);
/* Returns false for a term pinned before, or a constant. */
bool term_pin(struct term *term);
/* Keeps the memory. */
void term_arena_clear(struct term_arena *arena);
void term_arena_release(struct term_arena *arena);
