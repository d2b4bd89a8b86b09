/* Terms of intrinsics as plain operations: arithmetic with overflow flag, and funnel shifts. */
#include "branches/interpret/walk_internal.h"

struct term *walk_binary_term(
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

struct term *walk_comparison_term(
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

struct term *walk_selection_term(
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

struct term *walk_extended_term(struct term_arena *arena, struct term *term, bool is_signed)
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

struct intrinsic_terms {
	/* NULL if there is no term that solvers handle efficiently */
	struct term *value, *overflow;
};

/* Computes a signed sum or difference with its overflow. A sum overflows if both operands have one
 * sign and the result the other; a difference, correspondingly. */
static struct intrinsic_terms walk_intrinsic_signed_sum(
	struct term_arena *arena, LLVMOpcode opcode, struct term *a, struct term *b)
{
	struct term *value = walk_binary_term(arena, opcode, a, b);
	struct term *from_a = walk_binary_term(arena, LLVMXor, value, a);
	struct term *from_b = walk_binary_term(arena, LLVMXor, opcode == LLVMAdd ? value : a, b);

	return (struct intrinsic_terms){
		value, walk_comparison_term(arena, LLVMIntSLT,
			       walk_binary_term(arena, LLVMAnd, from_a, from_b),
			       term_constant(arena, a->width, 0))};
}

static struct intrinsic_terms walk_intrinsic_product(
	struct walker *walker, struct term *a, struct term *b, bool is_signed)
{
	struct term_arena *arena = &walker->walk->terms;
	const uint32_t width = a->width;
	struct term *whole, *value;

	if (width > 32 && (is_signed || b->op != TERM_CONSTANT || !b->value))
		return (struct intrinsic_terms){NULL, NULL};
	if (width > 32)
		return (struct intrinsic_terms){walk_binary_term(arena, LLVMMul, a, b),
			walk_comparison_term(arena, LLVMIntUGT, a,
				term_constant(
					arena, width, compute_mask(UINT64_MAX, width) / b->value))};
	whole = walk_binary_term(arena, LLVMMul, walk_extended_term(arena, a, is_signed),
		walk_extended_term(arena, b, is_signed));
	value = walk_resize(walker, whole, width);
	return (struct intrinsic_terms){
		value, walk_comparison_term(arena, LLVMIntNE, whole,
			       walk_extended_term(arena, value, is_signed))};
}

static struct intrinsic_terms walk_intrinsic_terms(
	struct walker *walker, uint8_t sub, struct term *a, struct term *b)
{
	struct term_arena *arena = &walker->walk->terms;
	struct term *value;

	switch (sub) {
	case INTRINSIC_UNSIGNED_ADD_OVERFLOW:
		value = walk_binary_term(arena, LLVMAdd, a, b);
		return (struct intrinsic_terms){
			value, walk_comparison_term(arena, LLVMIntULT, value, a)};
	case INTRINSIC_UNSIGNED_SUB_OVERFLOW:
		return (struct intrinsic_terms){walk_binary_term(arena, LLVMSub, a, b),
			walk_comparison_term(arena, LLVMIntULT, a, b)};
	case INTRINSIC_SIGNED_ADD_OVERFLOW:
		return walk_intrinsic_signed_sum(arena, LLVMAdd, a, b);
	case INTRINSIC_SIGNED_SUB_OVERFLOW:
		return walk_intrinsic_signed_sum(arena, LLVMSub, a, b);
	default:
		return walk_intrinsic_product(walker, a, b, sub == INTRINSIC_SIGNED_MUL_OVERFLOW);
	}
}

void walk_set_overflow_terms(struct walker *walker, const struct code *code)
{
	struct term *a = walk_operand_term(walker, code->a),
		    *b = walk_operand_term(walker, code->b);
	struct intrinsic_terms result = {NULL, NULL};

	if (a || b)
		result = walk_intrinsic_terms(walker, code->sub,
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
	return walk_binary_term(arena, LLVMOr,
		walk_binary_term(arena, LLVMShl, a,
			term_constant(arena, width, is_left ? shift : width - shift)),
		walk_binary_term(arena, LLVMLShr, b,
			term_constant(arena, width, is_left ? width - shift : shift)));
}
