/* The host's reader of sites, on a program that raddle-cc compiles here, and on damaged copies of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "abi/instrument_abi.h"
#include "support/instrumented.h"
#include "symbols/tables/site_table.h"

static const char source[] = "struct pair { long first, second; };\n"
			     "struct pair pair;\n"
			     "_Atomic int flag;\n"
			     "static inline long get(struct pair *p)\n"
			     "{\n"
			     "	return p->second;\n"
			     "}\n"
			     "int main(void)\n"
			     "{\n"
			     "	pair.first = 3;\n"
			     "	__asm__ volatile(\"\" ::: \"memory\");\n"
			     "	flag = 1;\n"
			     "	return (int)get(&pair);\n"
			     "}\n";

static struct site_table *open_subject(struct instrumented *subject)
{
	struct site_table *table = NULL;
	struct error err = {0};

	if (!instrumented_build(subject, "c", source, "-O2"))
		skip(); /* clang 19 is not here */
	if (site_table_open(&table, subject->program, &err))
		fail_msg("%s", err.text);
	return table;
}

static const struct site *find(const struct site_table *table, uint32_t line, uint8_t kind)
{
	for (uint32_t i = 0; i < site_table_count(table); i++)
		if (site_table_at(table, i)->location.line == line &&
			site_table_at(table, i)->kind == kind)
			return site_table_at(table, i);
	fail_msg("no site of kind %d in line %u", kind, line);
	return NULL;
}

static void test_site_table__has_accesses_and_their_locations(void **state)
{
	struct instrumented subject;
	struct site_table *table = open_subject(&subject);
	const struct site *store = find(table, 10, SITE_STORE);
	const struct site *load = find(table, 6, SITE_LOAD);
	const struct site *atomic = find(table, 12, SITE_ATOMIC_STORE);
	struct site_source outer;

	(void)state;
	assert_int_equal(store->bytes, 8);
	assert_string_equal(store->location.function, "main");
	assert_non_null(strstr(store->location.file, "subject.c"));
	assert_int_equal(atomic->order, SITE_SEQUENTIAL);
	assert_int_equal(atomic->bytes, 4);
	assert_string_equal(load->location.function, "get");
	assert_true(site_table_outer(table, &load->location, &outer));
	assert_string_equal(outer.function, "main");
	assert_int_equal(outer.line, 13);
	assert_string_equal(site_table_function(table, load), "main");
	assert_false(site_table_outer(table, &store->location, &outer));
	site_table_free(table);
	instrumented_remove(&subject);
}

static void test_site_table__finds_points_by_address(void **state)
{
	struct instrumented subject;
	struct site_table *table = open_subject(&subject);

	(void)state;
	assert_true(site_table_count(table) >= 3);
	for (uint32_t i = 0; i < site_table_count(table); i++) {
		const struct site *site = site_table_at(table, i);

		assert_int_equal(site->index, i);
		assert_int_equal(site->point == 0, site->kind == SITE_OPAQUE);
		if (site->kind == SITE_OPAQUE)
			continue;
		assert_ptr_equal(site_table_find(table, site->point), site);
		assert_null(site_table_find(table, site->point + 1));
	}
	site_table_free(table);
	instrumented_remove(&subject);
}

static void test_site_table__says_that_there_are_no_sites(void **state)
{
	struct site_table *table = NULL;
	struct error err = {0};

	(void)state;
	assert_int_equal(site_table_open(&table, "/proc/self/exe", &err), ERROR_NOTFOUND);
	assert_non_null(strstr(err.text, "has no sites; "));
	assert_int_equal(site_table_open(&table, "/nonexistent", &err), ERROR_IO);
	assert_int_equal(site_table_open(&table, "/etc/passwd", &err), ERROR_FORMAT);
	assert_null(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_site_table__has_accesses_and_their_locations),
		cmocka_unit_test(test_site_table__finds_points_by_address),
		cmocka_unit_test(test_site_table__says_that_there_are_no_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
