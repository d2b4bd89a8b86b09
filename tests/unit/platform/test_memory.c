#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "platform/platform.h"

#define PAGE ((size_t)4096)

static void test_platform_map__gives_zeroed_memory_at_any_size(void **state)
{
	unsigned char *memory = platform_map(PAGE + 1, false);

	(void)state;
	assert_non_null(memory);
	for (size_t i = 0; i < PAGE + 1; i++)
		assert_int_equal(memory[i], 0);
	memory[PAGE] = 1;
	platform_unmap(memory, PAGE + 1);
}

/* A whole page between two mappings is free, so the kernel never merges them. */
static void test_platform_map__leaves_gaps(void **state)
{
	char *first = platform_map(PAGE, false), *second = platform_map(PAGE, false);

	(void)state;
	assert_true(second >= first + 2 * PAGE || first >= second + 2 * PAGE);
	platform_unmap(first, PAGE);
	platform_unmap(second, PAGE);
}

/* Blocks survive in shared memory. The mapping of small ones is made for the first of them, and given memory that
 * keeps addresses changes nothing after the first mapping. */
static void test_platform_map__joins_small_shared_blocks(void **state)
{
	struct platform_range other = {.next = 1};
	char *first = platform_map(PAGE, true), *second = platform_map(1, true);

	(void)state;
	assert_ptr_equal(second, first + PAGE);
	assert_true(platform_owns(first));
	platform_keep_range(&other);
	assert_int_equal(other.next, 1);
	assert_ptr_equal(platform_map(1, true), second + PAGE);
}

static void test_platform_read__refuses_unmapped_memory(void **state)
{
	char *pages = platform_map(2 * PAGE, false);
	char copy[16];

	(void)state;
	assert_int_equal(munmap(pages + PAGE, PAGE), 0);
	memcpy(pages + PAGE - sizeof copy, "the last bytes.", sizeof copy);
	assert_true(platform_read(pages + PAGE - sizeof copy, copy, sizeof copy));
	assert_string_equal(copy, "the last bytes.");
	assert_false(platform_read(pages + PAGE - 1, copy, sizeof copy));
	assert_false(platform_read(NULL, copy, sizeof copy));
	platform_unmap(pages, PAGE);
}

/* All sizes around the limits between the kinds of copying, at odd addresses; the bytes beside stay. */
static void test_platform_copy__copies_just_these_bytes(void **state)
{
	static unsigned char from[1200], to[1200];

	(void)state;
	for (size_t i = 0; i < sizeof from; i++)
		from[i] = (unsigned char)(i * 7 + 1);
	for (size_t bytes = 0; bytes <= 1100; bytes++) {
		memset(to, 0xee, sizeof to);
		platform_copy(to + 3, from + 5, bytes);
		assert_memory_equal(to + 3, from + 5, bytes);
		assert_int_equal(to[2], 0xee);
		assert_int_equal(to[3 + bytes], 0xee);
	}
	platform_clear(to + 3, 5);
	assert_int_equal(to[3] | to[7], 0);
	assert_int_not_equal(to[8], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_platform_map__gives_zeroed_memory_at_any_size),
		cmocka_unit_test(test_platform_map__leaves_gaps),
		cmocka_unit_test(test_platform_map__joins_small_shared_blocks),
		cmocka_unit_test(test_platform_read__refuses_unmapped_memory),
		cmocka_unit_test(test_platform_copy__copies_just_these_bytes),
	};

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
