/* Arithmetic of 65 to 128 bits against the compiler's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "branches/interpret/compute.h"

__extension__ typedef __int128 wide_signed;

static wide_integer run(LLVMOpcode opcode, uint32_t from, uint32_t width, uint32_t predicate,
	wide_integer a, wide_integer b)
{
	const struct code code = {.op = CODE_WIDE,
		.sub = (uint8_t)opcode,
		.width = (uint8_t)width,
		.bytes = from,
		.count = predicate,
		.a = 0,
		.b = 2,
		.to = 4};
	uint64_t registers[6] = {
		(uint64_t)a, (uint64_t)(a >> 64), (uint64_t)b, (uint64_t)(b >> 64)};

	compute_wide(&code, registers);
	return (wide_integer)registers[5] << 64 | registers[4];
}

static wide_integer number(uint64_t high, uint64_t low)
{
	return (wide_integer)high << 64 | low;
}

static void test_wide__is_what_the_compiler_computes(void **state)
{
	const wide_integer values[] = {0, 1, 7, number(0, UINT64_MAX), number(1, 0), number(5, 77),
		number(UINT64_MAX, UINT64_MAX), number(UINT64_C(1) << 63, 0),
		number(UINT64_MAX, 3)};
	const size_t count = sizeof values / sizeof *values;

	(void)state;
	for (size_t i = 0; i < count * count; i++) {
		const wide_integer a = values[i / count], b = values[i % count];
		const wide_signed x = (wide_signed)a, y = (wide_signed)b;

		assert_true(run(LLVMAdd, 128, 128, 0, a, b) == a + b);
		assert_true(run(LLVMSub, 128, 128, 0, a, b) == a - b);
		assert_true(run(LLVMMul, 128, 128, 0, a, b) == a * b);
		assert_true(run(LLVMXor, 128, 128, 0, a, b) == (a ^ b));
		assert_true(run(LLVMICmp, 128, 128, LLVMIntULT, a, b) == (a < b));
		assert_true(run(LLVMICmp, 128, 128, LLVMIntSGE, a, b) == (x >= y));
		if (b) {
			assert_true(run(LLVMUDiv, 128, 128, 0, a, b) == a / b);
			assert_true(run(LLVMURem, 128, 128, 0, a, b) == a % b);
		}
		if (b && y != -1) {
			assert_true(run(LLVMSDiv, 128, 128, 0, a, b) == (wide_integer)(x / y));
			assert_true(run(LLVMSRem, 128, 128, 0, a, b) == (wide_integer)(x % y));
		}
	}
}

/* As sums in closed form have them. */
static void test_wide__of_65_bits_has_no_more(void **state)
{
	const wide_integer all = number(1, UINT64_MAX);

	(void)state;
	assert_true(run(LLVMAdd, 65, 65, 0, all, 1) == 0);
	assert_true(run(LLVMSub, 65, 65, 0, 0, 1) == all);
	assert_true(run(LLVMMul, 65, 65, 0, all, 3) == all - 2);
	assert_true(run(LLVMLShr, 65, 65, 0, all, 64) == 1);
	assert_true(run(LLVMAShr, 65, 65, 0, all, 64) == all);
	assert_true(run(LLVMShl, 65, 65, 0, 3, 64) == number(1, 0));
	assert_true(run(LLVMZExt, 64, 65, 0, UINT64_MAX, 0) == UINT64_MAX);
	assert_true(run(LLVMSExt, 64, 65, 0, UINT64_MAX, 0) == all);
	assert_true(run(LLVMTrunc, 65, 64, 0, number(1, 5), 0) == 5);
	assert_true(run(LLVMICmp, 65, 65, LLVMIntSLT, all, 0) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wide__is_what_the_compiler_computes),
		cmocka_unit_test(test_wide__of_65_bits_has_no_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
