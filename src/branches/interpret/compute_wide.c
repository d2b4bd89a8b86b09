/* Values in several registers: integers of up to 128 bits, and bit casts of vectors. */
#include "branches/interpret/compute.h"

#include <string.h>

__extension__ typedef __int128 wide_signed;

static wide_integer compute_wide_mask(wide_integer value, uint32_t width)
{
	return width >= 128 ? value : value & (((wide_integer)1 << width) - 1);
}

static wide_signed as_signed(wide_integer value, uint32_t width)
{
	const uint32_t free_bits = 128 - width;

	return (wide_signed)(value << free_bits) >> free_bits;
}

static wide_integer divide(uint8_t opcode, uint32_t width, wide_integer a, wide_integer b)
{
	const wide_signed left = as_signed(a, width), right = as_signed(b, width);

	if (!b)
		return 0;
	switch (opcode) {
	case LLVMUDiv:
		return a / b;
	case LLVMURem:
		return a % b;
	case LLVMSDiv:
		return right == -1 ? 0 - a : (wide_integer)(left / right);
	default:
		return right == -1 ? 0 : (wide_integer)(left % right);
	}
}

static wide_integer compute_wide_calculate(
	uint8_t opcode, uint32_t width, wide_integer a, wide_integer b)
{
	switch (opcode) {
	case LLVMAdd:
		return a + b;
	case LLVMSub:
		return a - b;
	case LLVMMul:
		return a * b;
	case LLVMAnd:
		return a & b;
	case LLVMOr:
		return a | b;
	case LLVMXor:
		return a ^ b;
	case LLVMShl:
		return b >= width ? 0 : a << (uint32_t)b;
	case LLVMLShr:
		return b >= width ? 0 : a >> (uint32_t)b;
	case LLVMAShr:
		return (wide_integer)(as_signed(a, width) >>
				      (b >= width ? width - 1 : (uint32_t)b));
	default:
		return divide(opcode, width, a, b);
	}
}

static bool compute_wide_compare(uint32_t predicate, uint32_t width, wide_integer a, wide_integer b)
{
	const wide_signed left = as_signed(a, width), right = as_signed(b, width);

	switch (predicate) {
	case LLVMIntEQ:
		return a == b;
	case LLVMIntNE:
		return a != b;
	case LLVMIntUGT:
		return a > b;
	case LLVMIntUGE:
		return a >= b;
	case LLVMIntULT:
		return a < b;
	case LLVMIntULE:
		return a <= b;
	case LLVMIntSGT:
		return left > right;
	case LLVMIntSGE:
		return left >= right;
	case LLVMIntSLT:
		return left < right;
	default:
		return left <= right;
	}
}

static wide_integer compute_wide_operand(
	const struct code *code, const uint64_t *registers, int32_t at)
{
	const wide_integer high = code->bytes > 64 ? registers[at + 1] : 0;

	return high << 64 | registers[at];
}

void compute_wide(const struct code *code, uint64_t *registers)
{
	const wide_integer a = compute_wide_operand(code, registers, code->a);
	const wide_integer b = code->b < 0 ? 0 : compute_wide_operand(code, registers, code->b);
	wide_integer result;

	switch (code->sub) {
	case LLVMICmp:
		registers[code->to] = compute_wide_compare(code->count, code->width, a, b);
		return;
	case LLVMZExt:
	case LLVMTrunc:
	case LLVMFreeze:
	case LLVMBitCast:
		result = a;
		break;
	case LLVMSExt:
		result = (wide_integer)as_signed(a, code->bytes);
		break;
	default:
		result = compute_wide_calculate(code->sub, code->width, a, b);
	}
	result = compute_wide_mask(result, code->width);
	registers[code->to] = (uint64_t)result;
	if (code->width > 64)
		registers[code->to + 1] = (uint64_t)(result >> 64);
}

/* ---- bit casts ---- */

/* Writes up to 64 bits, least significant first, at any bit position. */
static void put_bits(uint8_t *bytes, uint32_t at, uint32_t count, uint64_t value)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
}

static uint64_t get_bits(const uint8_t *bytes, uint32_t at, uint32_t count)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < count; i++)
		value |= (uint64_t)(bytes[(at + i) / 8] >> (at + i) % 8 & 1) << i;
	return value;
}

void compute_as_lanes(
	const uint64_t *from, struct compute_lanes before, uint64_t *to, struct compute_lanes after)
{
	uint8_t bytes[RESHAPED_BITS / 8] = {0};

	for (uint32_t i = 0; i < before.count; i++) {
		if (before.width % 8)
			put_bits(bytes, i * before.width, before.width, from[i]);
		else
			memcpy(bytes + i * (before.width / 8), &from[i], before.width / 8);
	}
	for (uint32_t i = 0; i < after.count; i++) {
		to[i] = 0;
		if (after.width % 8)
			to[i] = get_bits(bytes, i * after.width, after.width);
		else
			memcpy(&to[i], bytes + i * (after.width / 8), after.width / 8);
	}
}

void compute_reshape(const struct code *code, uint64_t *registers)
{
	compute_as_lanes(registers + code->a, (struct compute_lanes){code->count, code->sub},
		registers + code->to, (struct compute_lanes){code->bytes, code->width});
}
