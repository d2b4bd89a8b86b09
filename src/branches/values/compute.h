/* Evaluates codes on concrete values. An integer register has zeros above the value's width. */
#pragma once

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "branches/decode/code.h"

static inline uint64_t compute_mask(uint64_t value, uint32_t width)
{
	return width >= 64 ? value : value & ((UINT64_C(1) << width) - 1);
}

static inline int64_t compute_signed(uint64_t value, uint32_t width)
{
	const uint32_t free_bits = 64 - width;

	return (int64_t)(value << free_bits) >> free_bits;
}

static inline double compute_double(uint64_t bits, uint32_t width)
{
	const uint32_t low = (uint32_t)bits;
	double value;
	float single;

	if (width == 32) {
		memcpy(&single, &low, sizeof single);
		return single;
	}
	memcpy(&value, &bits, sizeof value);
	return value;
}

static inline uint64_t compute_bits(double value, uint32_t width)
{
	const float single = (float)value;
	uint64_t bits = 0;

	if (width == 32)
		memcpy(&bits, &single, sizeof single);
	else
		memcpy(&bits, &value, sizeof value);
	return bits;
}

/* LLVM's predicate is a bit set: 1 equal, 2 greater, 4 less, 8 unordered. */
static inline uint64_t compute_doubles_compare(uint8_t predicate, double x, double y)
{
	return (predicate & 1 && x == y) | (predicate & 2 && x > y) | (predicate & 4 && x < y) |
	       (predicate & 8 && (x != x || y != y));
}

/* The divisor must not be zero; the walk ends before a division by zero. */
uint64_t compute_division(uint8_t opcode, uint32_t width, uint64_t a, uint64_t b);
uint64_t compute_float_compare(uint8_t predicate, uint32_t width, uint64_t a, uint64_t b);
/* A vector of `count` lanes of `width` bits. compute_as_lanes() converts between layouts. */
struct compute_lanes {
	uint32_t count, width;
};
void compute_as_lanes(const uint64_t *from, struct compute_lanes before, uint64_t *to,
	struct compute_lanes after);
/* Computes a code that has no other effect than its result, which is not stored. Stores the overflow flag
 * of intrinsics that have one. */
uint64_t compute_code(const struct code *code, uint64_t *registers);
void compute_reshape(const struct code *code, uint64_t *registers);
uint64_t compute_update(uint8_t op, uint32_t width, uint64_t old, uint64_t operand);

static inline uint64_t compute_binary(uint8_t opcode, uint32_t width, uint64_t a, uint64_t b)
{
	switch (opcode) {
	case LLVMAdd:
		return compute_mask(a + b, width);
	case LLVMSub:
		return compute_mask(a - b, width);
	case LLVMMul:
		return compute_mask(a * b, width);
	case LLVMAnd:
		return a & b;
	case LLVMOr:
		return a | b;
	case LLVMXor:
		return a ^ b;
	case LLVMShl:
		return b >= width ? 0 : compute_mask(a << b, width);
	case LLVMLShr:
		return b >= width ? 0 : a >> b;
	case LLVMAShr:
		return compute_mask(
			(uint64_t)(compute_signed(a, width) >> (b >= width ? width - 1 : b)),
			width);
	default:
		return compute_division(opcode, width, a, b);
	}
}

static inline uint64_t compute_compare(uint8_t predicate, uint32_t width, uint64_t a, uint64_t b)
{
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
		return compute_signed(a, width) > compute_signed(b, width);
	case LLVMIntSGE:
		return compute_signed(a, width) >= compute_signed(b, width);
	case LLVMIntSLT:
		return compute_signed(a, width) < compute_signed(b, width);
	default:
		return compute_signed(a, width) <= compute_signed(b, width);
	}
}
