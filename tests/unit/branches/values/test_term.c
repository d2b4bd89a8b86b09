/* Terms: what is known of them once they are pinned. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "branches/values/term.h"

static struct term *make(struct term_arena *arena, uint8_t op, uint8_t sub, uint8_t width,
	struct term *a, struct term *b)
{
	const struct term_like like = {.op = op, .sub = sub, .width = width, .a = a, .b = b};

	return term_make(arena, &like);
}

/* &table[index]: what the index is, is known from there on. */
static void test_pin__of_an_address_fixes_its_index(void **state)
{
	struct term_arena arena = {0};
	struct term *index = term_variable(&arena, 32, 7);
	struct term *other = term_variable(&arena, 32, 7);
	struct term *wide = make(&arena, CODE_SIGN_EXTEND, 32, 64, index, NULL);
	struct term *offset =
		make(&arena, CODE_BINARY, LLVMMul, 64, wide, term_constant(&arena, 64, 12));
	struct term *address =
		make(&arena, CODE_BINARY, LLVMAdd, 64, term_constant(&arena, 64, 0x1000), offset);

	(void)state;
	assert_false(term_is_fixed(index));
	assert_true(term_pin(address));
	assert_true(term_is_fixed(index));
	assert_true(term_is_fixed(wide));
	assert_false(term_is_fixed(other));
	assert_false(term_pin(address));
	assert_false(term_pin(wide));
	term_arena_release(&arena);
}

/* flags[index & 1]: the index may still be another one. */
static void test_pin__leaves_what_is_not_one_to_one(void **state)
{
	struct term_arena arena = {0};
	struct term *index = term_variable(&arena, 64, 7);
	struct term *low =
		make(&arena, CODE_BINARY, LLVMAnd, 64, index, term_constant(&arena, 64, 1));
	struct term *cut = make(&arena, CODE_TRUNCATE, 64, 8, index, NULL);
	struct term *none =
		make(&arena, CODE_BINARY, LLVMMul, 64, index, term_constant(&arena, 64, 0));

	(void)state;
	assert_true(term_pin(low));
	assert_true(term_pin(cut));
	assert_true(term_pin(none));
	assert_false(term_is_fixed(index));
	assert_false(term_pin(low)); /* once is enough */
	term_arena_release(&arena);
}

static void test_pin__of_two_variables_fixes_neither(void **state)
{
	struct term_arena arena = {0};
	struct term *a = term_variable(&arena, 64, 1), *b = term_variable(&arena, 64, 2);
	struct term *sum = make(&arena, CODE_BINARY, LLVMAdd, 64, a, b);

	(void)state;
	assert_true(term_pin(sum));
	assert_false(term_is_fixed(a));
	assert_false(term_is_fixed(b));
	assert_false(term_is_fixed(sum));
	term_arena_release(&arena);
}

/* Most constants are the same ones: there is one of each. */
static void test_constants__are_shared(void **state)
{
	struct term_arena arena = {0};
	struct term *seven = term_constant(&arena, 32, 7);

	(void)state;
	assert_ptr_equal(term_constant(&arena, 32, 7), seven);
	assert_ptr_not_equal(term_constant(&arena, 64, 7), seven);
	assert_ptr_not_equal(term_constant(&arena, 32, 8), seven);
	assert_false(term_pin(seven));
	for (uint32_t i = 0; i < 100000; i++) {
		const struct term *term = term_constant(&arena, 64, i % 3000);

		assert_int_equal(term->value, i % 3000);
		assert_int_equal(term->width, 64);
	}
	assert_int_equal(seven->value, 7);
	term_arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pin__of_an_address_fixes_its_index),
		cmocka_unit_test(test_pin__leaves_what_is_not_one_to_one),
		cmocka_unit_test(test_pin__of_two_variables_fixes_neither),
		cmocka_unit_test(test_constants__are_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
