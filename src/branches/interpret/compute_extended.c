/* 80-bit floating point (long double) in two registers: the mantissa, then sign and exponent. */
#include <math.h>
#include <string.h>

#include "branches/interpret/compute.h"

#define EXTENDED_BYTES 10

static long double compute_extended_get(const uint64_t *registers, int32_t at)
{
	long double value = 0;

	memcpy(&value, &registers[at], EXTENDED_BYTES); /* both registers are adjacent */
	return value;
}

static void compute_extended_put(uint64_t *registers, int32_t at, long double value)
{
	registers[at + 1] = 0;
	memcpy(&registers[at], &value, EXTENDED_BYTES);
}

static bool compute_extended_compare(uint32_t predicate, long double a, long double b)
{
	const bool is_unordered = isnan(a) || isnan(b);

	switch (predicate) {
	case LLVMRealPredicateFalse:
		return false;
	case LLVMRealORD:
		return !is_unordered;
	case LLVMRealUNO:
		return is_unordered;
	case LLVMRealOEQ:
		return a == b;
	case LLVMRealUEQ:
		return is_unordered || a == b;
	case LLVMRealONE:
		return !is_unordered && a != b;
	case LLVMRealUNE:
		return a != b;
	case LLVMRealOGT:
		return a > b;
	case LLVMRealUGT:
		return is_unordered || a > b;
	case LLVMRealOGE:
		return a >= b;
	case LLVMRealUGE:
		return is_unordered || a >= b;
	case LLVMRealOLT:
		return a < b;
	case LLVMRealULT:
		return is_unordered || a < b;
	case LLVMRealOLE:
		return a <= b;
	case LLVMRealULE:
		return is_unordered || a <= b;
	default:
		return true;
	}
}

/* Converts from a narrower type of `bytes` bits. */
static long double widen(const struct code *code, uint64_t value)
{
	float single;
	double twice;

	switch (code->sub) {
	case LLVMSIToFP:
		return (long double)compute_signed(value, code->bytes);
	case LLVMUIToFP:
		return (long double)value;
	default:
		break;
	}
	if (code->bytes == 32) {
		memcpy(&single, &value, sizeof single);
		return (long double)single;
	}
	memcpy(&twice, &value, sizeof twice);
	return (long double)twice;
}

/* Converts to a narrower type. A value that does not fit is undefined behaviour, so any result is valid. */
static uint64_t narrow(const struct code *code, long double value)
{
	const float single = (float)value;
	const double twice = (double)value;
	uint64_t bits = 0;

	switch (code->sub) {
	case LLVMFPToSI:
		return value > -0x1p63L - 1 && value < 0x1p63L
			       ? compute_mask((uint64_t)(int64_t)value, code->width)
			       : 0;
	case LLVMFPToUI:
		return value > -1 && value < 0x1p64L ? compute_mask((uint64_t)value, code->width)
						     : 0;
	default:
		break;
	}
	if (code->width == 32)
		memcpy(&bits, &single, sizeof single);
	else
		memcpy(&bits, &twice, sizeof twice);
	return bits;
}

static long double compute_extended_calculate(uint8_t opcode, long double a, long double b)
{
	switch (opcode) {
	case LLVMFAdd:
		return a + b;
	case LLVMFSub:
		return a - b;
	case LLVMFMul:
		return a * b;
	case LLVMFDiv:
		return a / b;
	default:
		return fmodl(a, b);
	}
}

void compute_extended(const struct code *code, uint64_t *registers)
{
	const int32_t to = code->to;

	switch (code->sub) {
	case LLVMFCmp:
		registers[to] = compute_extended_compare(code->count,
			compute_extended_get(registers, code->a),
			compute_extended_get(registers, code->b));
		return;
	case LLVMSIToFP:
	case LLVMUIToFP:
	case LLVMFPExt:
		compute_extended_put(registers, to, widen(code, registers[code->a]));
		return;
	case LLVMFPToSI:
	case LLVMFPToUI:
	case LLVMFPTrunc:
		registers[to] = narrow(code, compute_extended_get(registers, code->a));
		return;
	case LLVMFNeg:
	case LLVMBitCast:
	case LLVMFreeze:
		registers[to] = registers[code->a];
		registers[to + 1] = registers[code->a + 1] ^ (code->sub == LLVMFNeg ? 0x8000u : 0u);
		return;
	default:
		compute_extended_put(registers, to,
			compute_extended_calculate(code->sub,
				compute_extended_get(registers, code->a),
				compute_extended_get(registers, code->b)));
	}
}

void compute_extended_intrinsic(const struct code *code, uint64_t *registers)
{
	const long double a = compute_extended_get(registers, code->a);
	const long double b = code->b < 0 ? 0 : compute_extended_get(registers, code->b);
	long double result;

	switch (code->sub) {
	case INTRINSIC_FUSED: /* x87 has no fused instruction: two roundings */
		result = a * b;
		result += compute_extended_get(registers, code->c);
		break;
	case INTRINSIC_FLOAT_ABSOLUTE:
		result = fabsl(a);
		break;
	case INTRINSIC_SQUARE_ROOT:
		result = sqrtl(a);
		break;
	case INTRINSIC_FLOAT_MIN:
		result = fminl(a, b);
		break;
	case INTRINSIC_FLOAT_MAX:
		result = fmaxl(a, b);
		break;
	case INTRINSIC_COPY_SIGN:
		result = copysignl(a, b);
		break;
	case INTRINSIC_FLOOR:
		result = floorl(a);
		break;
	case INTRINSIC_CEILING:
		result = ceill(a);
		break;
	case INTRINSIC_TRUNCATE:
		result = truncl(a);
		break;
	case INTRINSIC_ROUND:
		result = roundl(a);
		break;
	default: /* round to nearest, ties to even */
		result = rintl(a);
	}
	compute_extended_put(registers, code->to, result);
}
