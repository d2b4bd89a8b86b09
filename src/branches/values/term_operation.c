/* Terms of operations on terms, with their values in this run. */
#include "branches/values/compute.h"
#include "branches/values/term.h"

struct term *term_binary(
	struct term_arena *arena, LLVMOpcode opcode, struct term *a, struct term *b)
{
	const struct term_like like = {.op = CODE_BINARY,
		.sub = (uint8_t)opcode,
		.width = a->width,
		.value = compute_binary((uint8_t)opcode, a->width, a->value, b->value),
		.a = a,
		.b = b};

	return a->op == TERM_CONSTANT && b->op == TERM_CONSTANT
		       ? term_constant(arena, a->width, like.value)
		       : term_make(arena, &like);
}

struct term *term_comparison(
	struct term_arena *arena, LLVMIntPredicate predicate, struct term *a, struct term *b)
{
	const struct term_like like = {.op = CODE_COMPARE,
		.sub = (uint8_t)predicate,
		.width = 1,
		.value = compute_compare((uint8_t)predicate, a->width, a->value, b->value),
		.a = a,
		.b = b};

	return a->op == TERM_CONSTANT && b->op == TERM_CONSTANT
		       ? term_constant(arena, 1, like.value)
		       : term_make(arena, &like);
}

struct term *term_selection(
	struct term_arena *arena, struct term *condition, struct term *yes, struct term *no)
{
	const struct term_like like = {.op = CODE_SELECT,
		.width = yes->width,
		.value = condition->value ? yes->value : no->value,
		.a = condition,
		.b = yes,
		.c = no};

	if (condition->op == TERM_CONSTANT)
		return condition->value ? yes : no;
	if (yes->op == TERM_CONSTANT && no->op == TERM_CONSTANT && yes->value == no->value)
		return yes;
	return term_make(arena, &like);
}

struct term *term_extended(struct term_arena *arena, struct term *term, bool is_signed)
{
	const uint64_t value =
		is_signed ? (uint64_t)compute_signed(term->value, term->width) : term->value;
	const struct term_like like = {.op = is_signed ? CODE_SIGN_EXTEND : CODE_ZERO_EXTEND,
		.sub = term->width,
		.width = 64,
		.value = value,
		.a = term};

	return term->op == TERM_CONSTANT ? term_constant(arena, 64, value)
	       : term->width == 64	 ? term
					 : term_make(arena, &like);
}

struct term *term_resized(struct term_arena *arena, struct term *term, uint32_t width)
{
	struct term_like like = {.width = (uint8_t)width, .a = term, .sub = term->width};

	if (term->width == width)
		return term;
	like.op = term->width < width ? CODE_ZERO_EXTEND : CODE_TRUNCATE;
	like.value = compute_mask(term->value, width);
	return term_make(arena, &like);
}

struct term *term_bytes(struct term_arena *arena, struct term *word, uint32_t first, uint32_t bytes)
{
	if (first)
		word = term_binary(
			arena, LLVMLShr, word, term_constant(arena, word->width, 8 * first));
	return term_resized(arena, word, 8 * bytes);
}
