/* Terms of intrinsics as plain operations: arithmetic with overflow flag, and funnel shifts. */
#include "branches/interpret/walk_internal.h"

struct intrinsic_terms {
	/* NULL if there is no term that solvers handle efficiently */
	struct term *value, *overflow;
};

/* Computes a signed sum or difference with its overflow. A sum overflows if both operands have one
 * sign and the result the other; a difference, correspondingly. */
static struct intrinsic_terms walk_intrinsic_signed_sum(
	struct term_arena *arena, LLVMOpcode opcode, struct term *a, struct term *b)
{
	struct term *value = term_binary(arena, opcode, a, b);
	struct term *from_a = term_binary(arena, LLVMXor, value, a);
	struct term *from_b = term_binary(arena, LLVMXor, opcode == LLVMAdd ? value : a, b);

	return (struct intrinsic_terms){value,
		term_comparison(arena, LLVMIntSLT, term_binary(arena, LLVMAnd, from_a, from_b),
			term_constant(arena, a->width, 0))};
}

static struct intrinsic_terms walk_intrinsic_product(
	struct term_arena *arena, struct term *a, struct term *b, bool is_signed)
{
	const uint32_t width = a->width;
	struct term *whole, *value;

	if (width > 32 && (is_signed || b->op != TERM_CONSTANT || !b->value))
		return (struct intrinsic_terms){NULL, NULL};
	if (width > 32)
		return (struct intrinsic_terms){term_binary(arena, LLVMMul, a, b),
			term_comparison(arena, LLVMIntUGT, a,
				term_constant(
					arena, width, compute_mask(UINT64_MAX, width) / b->value))};
	whole = term_binary(arena, LLVMMul, term_extended(arena, a, is_signed),
		term_extended(arena, b, is_signed));
	value = term_resized(arena, whole, width);
	return (struct intrinsic_terms){value,
		term_comparison(arena, LLVMIntNE, whole, term_extended(arena, value, is_signed))};
}

static struct intrinsic_terms walk_intrinsic_terms(
	struct term_arena *arena, uint8_t sub, struct term *a, struct term *b)
{
	struct term *value;

	switch (sub) {
	case INTRINSIC_UNSIGNED_ADD_OVERFLOW:
		value = term_binary(arena, LLVMAdd, a, b);
		return (struct intrinsic_terms){
			value, term_comparison(arena, LLVMIntULT, value, a)};
	case INTRINSIC_UNSIGNED_SUB_OVERFLOW:
		return (struct intrinsic_terms){term_binary(arena, LLVMSub, a, b),
			term_comparison(arena, LLVMIntULT, a, b)};
	case INTRINSIC_SIGNED_ADD_OVERFLOW:
		return walk_intrinsic_signed_sum(arena, LLVMAdd, a, b);
	case INTRINSIC_SIGNED_SUB_OVERFLOW:
		return walk_intrinsic_signed_sum(arena, LLVMSub, a, b);
	default:
		return walk_intrinsic_product(arena, a, b, sub == INTRINSIC_SIGNED_MUL_OVERFLOW);
	}
}

void walk_set_overflow_terms(struct walker *walker, const struct code *code)
{
	struct term *a = walk_operand_term(walker, code->a),
		    *b = walk_operand_term(walker, code->b);
	struct intrinsic_terms result = {NULL, NULL};

	if (a || b)
		result = walk_intrinsic_terms(&walker->walk->terms, code->sub,
			walk_term_of(walker, code->a, code->width),
			walk_term_of(walker, code->b, code->width));
	/* The values of this run are the only known ones */
	if (!result.value) {
		(void)walk_pin(walker, EVENT_VALUE, a, code); /* NULL: nothing to pin */
		(void)walk_pin(walker, EVENT_VALUE, b, code);
	}
	walk_set_term(walker, code->to, result.value);
	walk_set_term(walker, code->to + 1, result.overflow);
}

struct term *walk_funnel_term(
	struct walker *walker, const struct code *code, struct term *a, struct term *b, uint64_t by)
{
	struct term_arena *arena = &walker->walk->terms;
	const uint32_t width = code->width, shift = (uint32_t)(by % width);
	const bool is_left = code->sub == INTRINSIC_FUNNEL_LEFT;

	if (!shift)
		return is_left ? a : b;
	return term_binary(arena, LLVMOr,
		term_binary(arena, LLVMShl, a,
			term_constant(arena, width, is_left ? shift : width - shift)),
		term_binary(arena, LLVMLShr, b,
			term_constant(arena, width, is_left ? width - shift : shift)));
}
