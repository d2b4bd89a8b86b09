#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "bitcode/unpack.h"

/* Block 17 with records of code 1 (300), (5, 6) and of code 2 (9) with a blob; then block 15, whose operands
 * are differences, with records of code 7 (10), (8). */
static const unsigned char packed[] = {8, 2, 3, 1, 1, 1, 4, 2, 2, 12, /* sizes */
	1, 17, 4, 4, 2, 2, 0, 1, 15, 10, 10, 0,			      /* structure */
	1, 2, 0xac, 2, 5, 6, 1, 9, 3, 'a', 'b', 'c', 1, 1, 20, 3};

/* llvm-bcanalyzer -dump prints the records above for these bytes. */
static const unsigned char plain[] = {0x42, 0x43, 0xc0, 0xde, 0x45, 0x0c, 0x00, 0x00, 0x06, 0x00,
	0x00, 0x00, 0x0b, 0x02, 0x36, 0x59, 0x20, 0x14, 0x86, 0x46, 0x01, 0x32, 0xca, 0x64, 0x00,
	0x00, 0x00, 0x00, 0x61, 0x62, 0x63, 0x00, 0x00, 0x00, 0x00, 0x00, 0x3d, 0x0c, 0x00, 0x00,
	0x02, 0x00, 0x00, 0x00, 0x3b, 0x02, 0x65, 0x47, 0x80, 0x00, 0x00, 0x00};

static bool is_unpacked(const unsigned char *bytes, size_t size)
{
	unsigned char *bitcode = NULL;
	size_t bitcode_bytes;
	const bool result = bitcode_unpack(bytes, size, &bitcode, &bitcode_bytes);

	assert_int_equal(result, bitcode != NULL);
	free(bitcode);
	return result;
}

static void records_are_restored(void **state)
{
	unsigned char *bitcode;
	size_t size;

	(void)state;
	assert_true(bitcode_unpack(packed, sizeof packed, &bitcode, &size));
	assert_int_equal(size, sizeof plain);
	assert_memory_equal(bitcode, plain, sizeof plain);
	free(bitcode);
}

static void a_cut_end_is_refused(void **state)
{
	(void)state;
	for (size_t size = 0; size < sizeof packed; size++) {
		unsigned char *part = malloc(size + 1); /* of this size: for the sanitizer */

		assert_non_null(part);
		memcpy(part, packed, size);
		assert_false(is_unpacked(part, size));
		free(part);
	}
}

static void impossible_structures_are_refused(void **state)
{
	unsigned char deep[64] = {0, 40};

	(void)state;
	assert_false(is_unpacked((unsigned char[]){0, 1, 0}, 3));     /* an end without a block */
	assert_false(is_unpacked((unsigned char[]){0, 1, 4}, 3));     /* a record without a block */
	assert_false(is_unpacked((unsigned char[]){0, 2, 1, 17}, 4)); /* a block without an end */
	assert_false(is_unpacked((unsigned char[]){0, 3, 1, 64, 0}, 5));    /* an unknown block */
	assert_false(is_unpacked((unsigned char[]){0, 4, 1, 17, 4, 0}, 6)); /* no column */
	for (size_t i = 0; i < 20; i++) {
		deep[2 + 2 * i] = 1;
		deep[3 + 2 * i] = 17;
	}
	assert_false(is_unpacked(deep, 42));
}

static void damage_is_survived(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < 20000; i++) {
		unsigned char copy[sizeof packed];

		memcpy(copy, packed, sizeof packed);
		for (uint32_t j = rng_below(&rng, 4) + 1; j > 0; j--)
			copy[rng_below(&rng, sizeof packed)] = (unsigned char)rng_below(&rng, 256);
		(void)is_unpacked(copy, sizeof copy); /* damage may make sense */
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_restored),
		cmocka_unit_test(a_cut_end_is_refused),
		cmocka_unit_test(impossible_structures_are_refused),
		cmocka_unit_test(damage_is_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
