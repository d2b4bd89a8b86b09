#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "platform/platform.h"

#define PAGE ((size_t)4096)

struct search {
	const char *address;
	struct platform_mapping found;
	unsigned visits, visits_most;
};

static bool search_visit(void *argument, const struct platform_mapping *mapping)
{
	struct search *search = argument;

	if (mapping->start <= search->address && search->address < mapping->end)
		search->found = *mapping;
	return ++search->visits < search->visits_most;
}

static struct platform_mapping mapping_of(const void *address)
{
	struct search search = {.address = address, .visits_most = UINT32_MAX};

	assert_true(platform_each_mapping(search_visit, &search));
	assert_non_null(search.found.start);
	return search.found;
}

static void test_platform_each_mapping__reports_bounds_and_flags(void **state)
{
	char *pages = platform_map(3 * PAGE, false), *shared = platform_map(PAGE, true);
	struct platform_mapping mapping = mapping_of(pages + PAGE);

	(void)state;
	assert_ptr_equal(mapping.start, pages);
	assert_ptr_equal(mapping.end, pages + 3 * PAGE);
	assert_true(mapping.is_writable && mapping.is_private);
	assert_false(mapping.is_file);
	assert_int_equal(mprotect(pages + PAGE, PAGE, PROT_READ | PROT_EXEC), 0);
	mapping = mapping_of(pages + PAGE);
	assert_ptr_equal(mapping.start, pages + PAGE);
	assert_ptr_equal(mapping.end, pages + 2 * PAGE);
	assert_false(mapping.is_writable);
	assert_false(mapping_of(shared).is_private);
	platform_unmap(pages, 3 * PAGE);
	platform_unmap(shared, PAGE);
}

static void test_platform_each_mapping__reports_files(void **state)
{
	(void)state;
	assert_true(mapping_of((void *)(uintptr_t)search_visit).is_file);
}

static void test_platform_each_mapping__ends_when_the_visitor_says_so(void **state)
{
	struct search search = {.visits_most = 2};

	(void)state;
	assert_false(platform_each_mapping(search_visit, &search));
	assert_int_equal(search.visits, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_platform_each_mapping__reports_bounds_and_flags),
		cmocka_unit_test(test_platform_each_mapping__reports_files),
		cmocka_unit_test(test_platform_each_mapping__ends_when_the_visitor_says_so),
	};

	return cmocka_run_group_tests_name("maps", tests, NULL, NULL);
}
