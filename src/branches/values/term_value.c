/* Evaluates a term for other values of its variables. */
#include "branches/values/compute.h"
#include "branches/values/term.h"

bool term_compute(const struct term *term, const uint64_t values[3], uint64_t *out)
{
	/* The registers: the operands, the result and its overflow flag. */
	uint64_t registers[5] = {values[0], values[1], values[2]};
	struct code code = {
		.op = term->op, .sub = term->sub, .width = term->width, .b = 1, .c = 2, .to = 3};

	switch (term->op) {
	case CODE_SELECT:
		*out = values[0] ? values[1] : values[2];
		return true;
	case CODE_UPDATE:
		*out = compute_update(term->sub, term->width, values[0], values[1]);
		return true;
	case CODE_COMPARE:
	case CODE_FLOAT_COMPARE:
		code.width = term_operand(term, 0)->width;
		break;
	case CODE_BINARY:
		if (!values[1] && term->sub >= LLVMUDiv && term->sub <= LLVMFRem)
			return false;
		break;
	case CODE_INTRINSIC:
		/* A term does not store the third operand of these intrinsics. */
		if (term->sub == INTRINSIC_FUSED || term->sub == INTRINSIC_FUNNEL_LEFT ||
			term->sub == INTRINSIC_FUNNEL_RIGHT)
			return false;
		break;
	case CODE_ADDRESS: /* its term is that of a sum */
	case CODE_MOVE:
		return false;
	default:
		if (term->op > CODE_FLOAT_CONVERT)
			return false;
	}
	*out = compute_code(&code, registers);
	return true;
}
