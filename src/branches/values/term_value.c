/* Evaluates a term for other values of its variables. */
#include "branches/values/compute.h"
#include "branches/values/term.h"

bool term_compute(const struct term *term, const uint64_t values[3], uint64_t *out)
{
	const uint64_t a = values[0], b = values[1];
	const struct code code = {.op = term->op, .sub = term->sub, .width = term->width};
	uint64_t second;

	switch (term->op) {
	case CODE_BINARY:
		*out = compute_binary(term->sub, term->width, a, b);
		return b || term->sub < LLVMUDiv || term->sub > LLVMFRem;
	case CODE_COMPARE:
		*out = compute_compare(term->sub, term_operand(term, 0)->width, a, b);
		return true;
	case CODE_FLOAT:
		*out = compute_float(term->sub, term->width, a, b);
		return true;
	case CODE_FLOAT_COMPARE:
		*out = compute_float_compare(term->sub, term_operand(term, 0)->width, a, b);
		return true;
	case CODE_FLOAT_NEGATE:
		*out = a ^ UINT64_C(1) << (term->width - 1);
		return true;
	case CODE_ZERO_EXTEND:
	case CODE_TRUNCATE:
		*out = compute_mask(a, term->width);
		return true;
	case CODE_SIGN_EXTEND:
		*out = compute_mask(
			(uint64_t)compute_signed(a, term_operand(term, 0)->width), term->width);
		return true;
	case CODE_SELECT:
		*out = a ? b : values[2];
		return true;
	case CODE_UPDATE:
		*out = compute_update(term->sub, term->width, a, b);
		return true;
	case CODE_INTRINSIC:
		/* A term does not store the third operand of these intrinsics. */
		if (term->sub == INTRINSIC_FUSED || term->sub == INTRINSIC_FUNNEL_LEFT ||
			term->sub == INTRINSIC_FUNNEL_RIGHT)
			return false;
		*out = compute_intrinsic(&code, a, b, 0, &second);
		return true;
	case CODE_FROM_SIGNED:
	case CODE_FROM_UNSIGNED:
	case CODE_TO_SIGNED:
	case CODE_TO_UNSIGNED:
	case CODE_FLOAT_CONVERT:
		*out = compute_conversion(&code, a);
		return true;
	default:
		return false;
	}
}
