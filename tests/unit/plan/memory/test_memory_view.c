#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "plan/memory/memory_view.h"

/* Makes the memory that a runtime may have left: two modules, one with a gap, and points among
 * variables. */
static struct contract_memory *sample_memory(void)
{
	struct contract_memory *memory = calloc(1, sizeof *memory);
	static const variable_name names[] = {900, 17, UINT64_MAX, 5};

	assert_non_null(memory);
	memory->module_count = 2;
	memory->modules[0] = (struct memory_module){.name = 11, .fingerprint = 12, .count = 70};
	memory->modules[1] = (struct memory_module){
		.name = 21, .fingerprint = UINT64_MAX, .first = 70, .count = 3};
	memory->site_count = 73;
	for (uint32_t i = 0; i < 73; i++)
		memory->sites[i] = SITE_SEEN;
	memory->sites[0] |= SITE_ON;
	memory->sites[3] |= SITE_CHOSEN;
	memory->sites[71] |= SITE_CHOSEN;
	for (uint32_t i = 60; i < 72; i++)
		memory->sites[i] |= SITE_ON;
	for (uint32_t i = 0; i < 4; i++) {
		memory_restore_variable(memory, names[i])->flags = VARIABLE_WRITTEN |
								   (i != 1 ? VARIABLE_POINT : 0) |
								   (i == 3 ? VARIABLE_RACY : 0);
	}
	return memory;
}

static void assert_same_view(const struct memory_view *a, const struct memory_view *b)
{
	assert_int_equal(a->mode, b->mode);
	assert_int_equal(a->module_count, b->module_count);
	assert_int_equal(a->point_count, b->point_count);
	assert_memory_equal(a->points, b->points, a->point_count * sizeof *a->points);
	assert_int_equal(a->racy_count, b->racy_count);
	assert_memory_equal(a->racy, b->racy, a->racy_count * sizeof *a->racy);
	for (uint32_t i = 0; i < a->module_count; i++) {
		assert_int_equal(a->modules[i].name, b->modules[i].name);
		assert_int_equal(a->modules[i].fingerprint, b->modules[i].fingerprint);
		assert_int_equal(a->modules[i].count, b->modules[i].count);
		assert_memory_equal(a->modules[i].is_on, b->modules[i].is_on,
			BITSET_WORDS(a->modules[i].count) * sizeof(uint64_t));
		assert_memory_equal(a->modules[i].is_chosen, b->modules[i].is_chosen,
			BITSET_WORDS(a->modules[i].count) * sizeof(uint64_t));
	}
}

static void test_memory_view__takes_the_sites_of_unwatched_runs_and_the_failing_one(void **state)
{
	struct contract_memory *memory = sample_memory();
	struct memory_view view;

	(void)state;
	memory->mode = MEMORY_RACY_SITES;
	memory->sites[7] |= SITE_KEPT;
	memory->failed_site = 1 + 72;
	memory_view_take(&view, memory);
	assert_int_equal(bitset_count(view.modules[0].is_on, 2), 1);
	assert_true(bitset_has(view.modules[0].is_on, 7));
	assert_int_equal(bitset_count(view.modules[1].is_on, 1), 1);
	assert_true(bitset_has(view.modules[1].is_on, 2));
	memory_view_release(&view);
	free(memory);
}

static void test_memory_view__takes_sites_that_are_on_and_points(void **state)
{
	struct contract_memory *memory = sample_memory();
	struct memory_view view;

	(void)state;
	memory_view_take(&view, memory);
	assert_int_equal(view.module_count, 2);
	assert_int_equal(bitset_count(view.modules[0].is_on, 2), 11);
	assert_int_equal(bitset_count(view.modules[0].is_chosen, 2), 1);
	assert_true(bitset_has(view.modules[0].is_chosen, 3));
	assert_true(bitset_has(view.modules[1].is_on, 1));
	assert_false(bitset_has(view.modules[1].is_on, 2));
	assert_int_equal(view.point_count, 3);
	assert_int_equal(view.points[0], 5);
	assert_int_equal(view.points[1], 900);
	assert_int_equal(view.points[2], UINT64_MAX);
	assert_int_equal(view.racy_count, 1);
	assert_int_equal(view.racy[0], 5);
	memory_view_release(&view);
	free(memory);
}

static void test_memory_view__survives_json_and_the_contract(void **state)
{
	struct contract_memory *memory = sample_memory();
	struct contract_memory *other = calloc(1, sizeof *other);
	struct memory_view view, read, again;
	struct error err;
	char *json;

	(void)state;
	assert_non_null(other);
	memory_view_take(&view, memory);
	json = memory_view_to_json(&view);
	assert_non_null(json);
	assert_int_equal(memory_view_from_json(json, &read, &err), 0);
	assert_same_view(&view, &read);
	memory_view_apply(&read, other);
	assert_true(other->is_frozen);
	assert_int_equal(other->site_count, 73);
	assert_int_equal(other->sites_on, 13);
	for (uint32_t i = 0; i < view.point_count; i++)
		assert_true(memory_may_be_point(other, view.points[i]));
	memory_view_take(&again, other);
	assert_same_view(&view, &again);
	free(json);
	memory_view_release(&view);
	memory_view_release(&read);
	memory_view_release(&again);
	free(memory);
	free(other);
}

static void test_memory_view__of_a_plain_program_is_nothing(void **state)
{
	struct contract_memory *memory = calloc(1, sizeof *memory);
	struct memory_view view;

	(void)state;
	assert_non_null(memory);
	memory_view_take(&view, memory);
	assert_null(memory_view_to_json(&view));
	memory_view_release(&view);
	free(memory);
}

static void test_memory_view__refuses_damaged_json(void **state)
{
#define MODULE(count, on)                                                                          \
	"{\"mode\":\"shared\",\"points\":\"\",\"modules\":[{\"name\":\"00000000000000ab\","        \
	"\"fingerprint\":\"00000000000000cd\",\"count\":" count ",\"on\":\"" on "\"}]}"
	static const char *const damaged[] = {
		"",
		"[]",
		"{}",
		"{\"mode\":\"some\",\"modules\":[],\"points\":\"\"}",
		"{\"mode\":\"all\",\"modules\":{},\"points\":\"\"}",
		"{\"mode\":\"all\",\"modules\":[1],\"points\":\"\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"00000000000000001\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"0\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"1G\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\",1\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"1+\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"1+x\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"1+999999999\"}",
		"{\"mode\":\"all\",\"modules\":[],\"points\":\"fffffffffffffffd+2\"}",
		"{\"mode\":\"races\",\"modules\":[],\"points\":\"\",\"racy\":\"z\"}",
		"{\"mode\":\"races\",\"modules\":[],\"points\":\"\",\"racy\":5}",
		MODULE("4", "4"),
		MODULE("4", "0-4"),
		MODULE("4", "3-2"),
		MODULE("4", ",1"),
		MODULE("4", "-1"),
		MODULE("4", "99999999999999999999"),
		MODULE("-1", ""),
		MODULE("4194305", ""),
	};
#undef MODULE

	(void)state;
	for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) {
		struct memory_view view;
		struct error err = {0};

		assert_int_equal(memory_view_from_json(damaged[i], &view, &err), ERROR_FORMAT);
		assert_non_null(strstr(err.text, "; find it again"));
	}
}

static void test_memory_view__reads_names_of_older_findings(void **state)
{
	struct memory_view view;
	struct error err;

	(void)state;
	assert_int_equal(memory_view_from_json("{\"mode\":\"all\",\"modules\":[],\"points\":"
					       "\"00000000000000a1fffffffffffffff1\"}",
				 &view, &err),
		0);
	assert_int_equal(view.point_count, 2);
	assert_int_equal(view.points[0], 0xa1);
	assert_int_equal(view.points[1], UINT64_MAX - 14);
	memory_view_release(&view);
}

/* A program may share nearly all variables that the table holds. */
static void test_memory_view__has_as_many_points_as_the_table(void **state)
{
	struct memory_view view = {.point_count = MEMORY_VARIABLES_ROOM}, read;
	struct error err;
	char *json;

	(void)state;
	view.points = calloc(view.point_count, sizeof *view.points);
	assert_non_null(view.points);
	for (uint32_t i = 0; i < view.point_count; i++)
		view.points[i] = i * 2 + i / 8 + 1;
	json = memory_view_to_json(&view);
	assert_non_null(json);
	assert_true(strlen(json) < view.point_count * 2);
	assert_int_equal(memory_view_from_json(json, &read, &err), 0);
	assert_same_view(&view, &read);
	free(json);
	memory_view_release(&view);
	memory_view_release(&read);
}

static void test_memory_mode__words_are_read_back(void **state)
{
	(void)state;
	for (int mode = 0; mode < MEMORY_MODE_COUNT; mode++) {
		enum memory_mode read;

		assert_true(memory_mode_parse(memory_mode_words[mode], &read));
		assert_int_equal(read, mode);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_memory_view__takes_sites_that_are_on_and_points),
		cmocka_unit_test(
			test_memory_view__takes_the_sites_of_unwatched_runs_and_the_failing_one),
		cmocka_unit_test(test_memory_view__reads_names_of_older_findings),
		cmocka_unit_test(test_memory_view__has_as_many_points_as_the_table),
		cmocka_unit_test(test_memory_view__survives_json_and_the_contract),
		cmocka_unit_test(test_memory_view__of_a_plain_program_is_nothing),
		cmocka_unit_test(test_memory_view__refuses_damaged_json),
		cmocka_unit_test(test_memory_mode__words_are_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
