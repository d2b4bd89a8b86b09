#include "branches/values/compute.h"

__extension__ typedef unsigned __int128 wide;

uint64_t compute_division(uint8_t opcode, uint32_t width, uint64_t a, uint64_t b)
{
	const int64_t left = compute_signed(a, width), right = compute_signed(b, width);

	if (!b)
		return 0;
	switch (opcode) {
	case LLVMUDiv:
		return a / b;
	case LLVMURem:
		return a % b;
	case LLVMSDiv:
		return compute_mask(right == -1 ? 0 - a : (uint64_t)(left / right), width);
	default:
		return compute_mask(right == -1 ? 0 : (uint64_t)(left % right), width);
	}
}

static uint64_t compute_float(uint8_t opcode, uint32_t width, uint64_t a, uint64_t b)
{
	const double x = compute_double(a, width), y = compute_double(b, width);

	switch (opcode) {
	case LLVMFAdd:
		return compute_bits(x + y, width);
	case LLVMFSub:
		return compute_bits(x - y, width);
	case LLVMFMul:
		return compute_bits(x * y, width);
	case LLVMFDiv:
		return compute_bits(x / y, width);
	default:
		return compute_bits(fmod(x, y), width);
	}
}

uint64_t compute_float_compare(uint8_t predicate, uint32_t width, uint64_t a, uint64_t b)
{
	return compute_doubles_compare(
		predicate, compute_double(a, width), compute_double(b, width));
}

static uint64_t compute_to_integer(double value, uint32_t width, bool is_signed)
{
	if (is_signed)
		return compute_mask(value >= 9223372036854775808.0 || value < -9223372036854775808.0
					    ? UINT64_C(1) << 63
					    : (uint64_t)(int64_t)value,
			width);
	return compute_mask(
		value >= 18446744073709551616.0 || value <= -1.0 ? 0 : (uint64_t)value, width);
}

static uint64_t compute_conversion(const struct code *code, uint64_t a)
{
	switch (code->op) {
	case CODE_FROM_SIGNED:
		/* A conversion by way of double would round twice. */
		return code->width == 32
			       ? compute_bits((float)compute_signed(a, code->sub), 32)
			       : compute_bits((double)compute_signed(a, code->sub), code->width);
	case CODE_FROM_UNSIGNED:
		return code->width == 32 ? compute_bits((float)a, 32)
					 : compute_bits((double)a, code->width);
	case CODE_TO_SIGNED:
		return compute_to_integer(compute_double(a, code->sub), code->width, true);
	case CODE_TO_UNSIGNED:
		return compute_to_integer(compute_double(a, code->sub), code->width, false);
	default:
		return compute_bits(compute_double(a, code->sub), code->width);
	}
}

static uint64_t compute_leading_zeros(uint64_t a, uint32_t width)
{
	return a ? (uint64_t)__builtin_clzll(a) - (64 - width) : width;
}

static uint64_t compute_reverse_bits(uint64_t a, uint32_t width)
{
	uint64_t result = 0;

	for (uint32_t i = 0; i < width; i++)
		result |= (a >> i & 1) << (width - 1 - i);
	return result;
}

static uint64_t compute_funnel(
	uint64_t high, uint64_t low, uint64_t shift, uint32_t width, bool is_left)
{
	shift %= width;
	if (!shift)
		return is_left ? high : low;
	if (!is_left)
		shift = width - shift;
	return compute_mask(high << shift | low >> (width - shift), width);
}

static wide compute_widened(uint64_t value, uint32_t width, bool is_signed)
{
	return is_signed ? (wide)compute_signed(value, width) : value;
}

/* 128 bits hold every exact result, of signed operands as two's complement. */
static uint64_t compute_overflow(const struct code *code, uint64_t a, uint64_t b, uint64_t *second)
{
	const uint32_t width = code->width;
	const bool is_signed = code->sub >= INTRINSIC_SIGNED_ADD_OVERFLOW;
	const wide x = compute_widened(a, width, is_signed),
		   y = compute_widened(b, width, is_signed);
	wide exact;
	uint64_t result;

	if (code->sub == INTRINSIC_UNSIGNED_ADD_OVERFLOW ||
		code->sub == INTRINSIC_SIGNED_ADD_OVERFLOW)
		exact = x + y;
	else if (code->sub == INTRINSIC_UNSIGNED_SUB_OVERFLOW ||
		 code->sub == INTRINSIC_SIGNED_SUB_OVERFLOW)
		exact = x - y;
	else
		exact = x * y;
	result = compute_mask((uint64_t)exact, width);
	*second = exact != compute_widened(result, width, is_signed);
	return result;
}

/* `second` receives the overflow flag of the with.overflow intrinsics. */
static uint64_t compute_intrinsic(
	const struct code *code, uint64_t a, uint64_t b, uint64_t c, uint64_t *second)
{
	const uint32_t width = code->width;

	switch (code->sub) {
	case INTRINSIC_UNSIGNED_MIN:
		return a < b ? a : b;
	case INTRINSIC_UNSIGNED_MAX:
		return a > b ? a : b;
	case INTRINSIC_SIGNED_MIN:
		return compute_signed(a, width) < compute_signed(b, width) ? a : b;
	case INTRINSIC_SIGNED_MAX:
		return compute_signed(a, width) > compute_signed(b, width) ? a : b;
	case INTRINSIC_ABSOLUTE:
		return compute_signed(a, width) < 0 ? compute_mask(0 - a, width) : a;
	case INTRINSIC_SWAP_BYTES:
		return __builtin_bswap64(a) >> (64 - width);
	case INTRINSIC_COUNT_ONES:
		return (uint64_t)__builtin_popcountll(a);
	case INTRINSIC_LEADING_ZEROS:
		return compute_leading_zeros(a, width);
	case INTRINSIC_TRAILING_ZEROS:
		return a ? (uint64_t)__builtin_ctzll(a) : width;
	case INTRINSIC_FUNNEL_LEFT:
		return compute_funnel(a, b, c, width, true);
	case INTRINSIC_FUNNEL_RIGHT:
		return compute_funnel(a, b, c, width, false);
	case INTRINSIC_UNSIGNED_ADD_SATURATING:
		return a > compute_mask(UINT64_MAX, width) - b ? compute_mask(UINT64_MAX, width)
							       : a + b;
	case INTRINSIC_UNSIGNED_SUB_SATURATING:
		return a > b ? a - b : 0;
	case INTRINSIC_BIT_REVERSE:
		return compute_reverse_bits(a, width);
	case INTRINSIC_FUSED: /* two roundings, as code without a fused instruction computes */
		return compute_float(LLVMFAdd, width, compute_float(LLVMFMul, width, a, b), c);
	case INTRINSIC_FLOAT_ABSOLUTE:
		return a & ~(UINT64_C(1) << (width - 1));
	case INTRINSIC_SQUARE_ROOT:
		return compute_bits(sqrt(compute_double(a, width)), width);
	default:
		return compute_overflow(code, a, b, second);
	}
}

uint64_t compute_update(uint8_t op, uint32_t width, uint64_t old, uint64_t operand)
{
	const int64_t x = compute_signed(old, width), y = compute_signed(operand, width);

	switch (op) {
	case LLVMAtomicRMWBinOpXchg:
		return operand;
	case LLVMAtomicRMWBinOpAdd:
		return compute_mask(old + operand, width);
	case LLVMAtomicRMWBinOpSub:
		return compute_mask(old - operand, width);
	case LLVMAtomicRMWBinOpAnd:
		return old & operand;
	case LLVMAtomicRMWBinOpNand:
		return compute_mask(~(old & operand), width);
	case LLVMAtomicRMWBinOpOr:
		return old | operand;
	case LLVMAtomicRMWBinOpXor:
		return old ^ operand;
	case LLVMAtomicRMWBinOpMax:
		return x > y ? old : operand;
	case LLVMAtomicRMWBinOpMin:
		return x < y ? old : operand;
	case LLVMAtomicRMWBinOpUMax:
		return old > operand ? old : operand;
	case LLVMAtomicRMWBinOpUMin:
		return old < operand ? old : operand;
	case LLVMAtomicRMWBinOpFAdd:
		return compute_float(LLVMFAdd, width, old, operand);
	case LLVMAtomicRMWBinOpFSub:
		return compute_float(LLVMFSub, width, old, operand);
	default:
		return old;
	}
}

/* Writes up to 64 bits, least significant first, at any bit position. */
static void compute_put_bits(uint8_t *bytes, uint32_t at, uint32_t count, uint64_t value)
{
	for (uint32_t i = 0; i < count; i++)
		bytes[(at + i) / 8] |= (uint8_t)((value >> i & 1) << (at + i) % 8);
}

static uint64_t compute_get_bits(const uint8_t *bytes, uint32_t at, uint32_t count)
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
			compute_put_bits(bytes, i * before.width, before.width, from[i]);
		else
			memcpy(bytes + i * (before.width / 8), &from[i], before.width / 8);
	}
	for (uint32_t i = 0; i < after.count; i++) {
		to[i] = 0;
		if (after.width % 8)
			to[i] = compute_get_bits(bytes, i * after.width, after.width);
		else
			memcpy(&to[i], bytes + i * (after.width / 8), after.width / 8);
	}
}

void compute_reshape(const struct code *code, uint64_t *registers)
{
	compute_as_lanes(registers + code->a, (struct compute_lanes){code->count, code->sub},
		registers + code->to, (struct compute_lanes){code->bytes, code->width});
}

static uint64_t compute_address(const struct code *code, const uint64_t *registers)
{
	uint64_t address = registers[code->a] + (uint64_t)code->immediate;

	for (uint32_t i = 0; i < code->count; i++) {
		const struct address_term *term = &code->terms[i];

		address += (uint64_t)compute_signed(registers[term->operand], term->width) *
			   (uint64_t)term->scale;
	}
	return address;
}

uint64_t compute_code(const struct code *code, uint64_t *registers)
{
	const uint64_t a = registers[code->a];

	switch (code->op) {
	case CODE_BINARY:
		return compute_binary(code->sub, code->width, a, registers[code->b]);
	case CODE_COMPARE:
		return compute_compare(code->sub, code->width, a, registers[code->b]);
	case CODE_ADDRESS:
		return compute_address(code, registers);
	case CODE_MOVE:
	case CODE_ZERO_EXTEND:
		return a;
	case CODE_SIGN_EXTEND:
		return compute_mask((uint64_t)compute_signed(a, code->sub), code->width);
	case CODE_TRUNCATE:
		return compute_mask(a, code->width);
	case CODE_FLOAT:
		return compute_float(code->sub, code->width, a, registers[code->b]);
	case CODE_FLOAT_COMPARE:
		return compute_float_compare(code->sub, code->width, a, registers[code->b]);
	case CODE_FLOAT_NEGATE:
		return a ^ UINT64_C(1) << (code->width - 1);
	case CODE_INTRINSIC: {
		uint64_t second = 0;
		const uint64_t value =
			compute_intrinsic(code, a, registers[code->b], registers[code->c], &second);

		if (code_reports_overflow(code))
			registers[code->to + 1] = second;
		return value;
	}
	default:
		return compute_conversion(code, a);
	}
}
