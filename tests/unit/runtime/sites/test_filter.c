/* Runs in which few variables are points: accesses to all else pass at once. */
#include "support/memory_scene.h"

#define POINT 0x10000u
#define OTHER 0x20800u
#define SITE 7u /* site of the one block, which is all that heap_each() knows */

static bool is_wanted(uintptr_t address)
{
	return filter_lines == filter_all || filter_lines[address / LINE_BYTES % FILTER_LINES] != 0;
}

/* Both are shared by now. */
static void share(void)
{
	memory->mode = MEMORY_LEARN;
	memory->group_count = 1;
	for (uint64_t number = 1; number < 4; number++) {
		run(number);
		quick_begin_run();
		for (unsigned thread = 0; thread < 2; thread++) {
			access_by(thread, 0, SITE_STORE, POINT, 4);
			access_by(thread, 0, SITE_STORE, OTHER, 4);
		}
	}
	assert_true(points);
	points = 0;
}

static void focus_on_point(void)
{
	struct memory_variable *variable =
		memory_variable_of(memory, (object_name)memory_variable_name((void *)POINT));

	assert_non_null(variable);
	variable->flags |= VARIABLE_FOCUSED;
	memory->focused[0] = (uint32_t)(variable - memory->variables);
	memory->focused_count = 1;
	memory->is_filtered = memory->is_partial = true;
	memory_next_epoch(memory);
	quick_begin_run();
}

static void test_filter__wants_the_runs_variables_alone(void **state)
{
	const struct site_record store = {.kind = SITE_STORE, .bytes = 4};
	const struct site_record range = {.kind = SITE_RANGE_WRITE};

	(void)state;
	share();
	assert_true(is_wanted(OTHER));
	focus_on_point();
	assert_true(is_wanted(POINT));
	assert_true(is_wanted(POINT - 15)); /* a vector may begin so far before it */
	assert_false(is_wanted(OTHER));
	names_made = 0;
	assert_false(site_reached((void *)(uintptr_t)OTHER, 4096, &range, 0));
	assert_int_equal(names_made, 0);
	assert_true(site_reached((void *)(uintptr_t)(POINT - 4096), 8192, &range, 0));
	assert_true(site_reached((void *)(uintptr_t)POINT, 0, &store, 0));
	site_perform();
	assert_int_equal(points, 1);
}

static void test_filter__detectors_hear_of_atomic_accesses(void **state)
{
	const struct site_record update = {.kind = SITE_ATOMIC_UPDATE, .bytes = 4};

	(void)state;
	share();
	contract.plan.detectors = 1;
	focus_on_point();
	assert_true(site_reached((void *)(uintptr_t)OTHER, 0, &update, 0));
	contract.plan.detectors = 0;
	assert_false(site_reached((void *)(uintptr_t)OTHER, 0, &update, 0));
}

static void test_filter__blocks_of_a_location_are_wanted(void **state)
{
	const struct heap_block later = {.start = OTHER, .bytes = 200, .site = SITE};
	const struct heap_block another = {.start = POINT, .bytes = 200, .site = SITE + 1};

	(void)state;
	share();
	live.site = SITE;
	memory->focused_allocations[0] = memory_allocation_site(SITE);
	memory->focused_allocation_count = 1;
	memory->is_filtered = memory->is_partial = true;
	quick_begin_run();
	assert_true(is_wanted(live.start + live.bytes - 1));
	assert_false(is_wanted(OTHER));
	filter_add_block(&another);
	filter_add_block(&later);
	assert_false(is_wanted(POINT));
	assert_true(is_wanted(OTHER));
	assert_true(is_wanted(OTHER + 199));
	assert_false(is_wanted(OTHER + 256));
	filter_begin_run(memory, false);
	assert_true(is_wanted(POINT));
}

/* The bounds that loops read (instrument_abi.h). */
static bool is_in_bounds(uintptr_t address)
{
	for (unsigned i = 0; i < WANTED_PARTS; i++)
		if (address >= raddle_wanted_v5.parts[i].start &&
			address < raddle_wanted_v5.parts[i].end)
			return true;
	return false;
}

static void test_filter__gives_loops_the_wanted_bounds(void **state)
{
	const struct heap_block later = {.start = OTHER, .bytes = 201, .site = SITE};

	(void)state;
	share();
	assert_true(is_in_bounds(OTHER));
	focus_on_point();
	assert_true(is_in_bounds(POINT));
	assert_true(is_in_bounds(POINT + 7));
	assert_false(is_in_bounds(POINT - 1));
	assert_false(is_in_bounds(POINT + 8));
	assert_false(is_in_bounds(OTHER));
	filter_suspend();
	assert_true(is_in_bounds(OTHER));
	filter_resume();
	assert_false(is_in_bounds(OTHER));
	memory->focused_allocations[0] = memory_allocation_site(SITE);
	memory->focused_allocation_count = 1;
	quick_begin_run();
	filter_add_block(&later);
	assert_true(is_in_bounds(POINT));
	assert_true(is_in_bounds(OTHER));
	assert_true(is_in_bounds(OTHER + 207)); /* the whole of its last variable */
	assert_false(is_in_bounds(OTHER + 208));
	filter_begin_run(memory, false);
	assert_true(is_in_bounds(POINT - 1));
}

static void test_filter__somebody_who_wants_a_turn_is_heard(void **state)
{
	const struct site_record range = {.kind = SITE_RANGE_WRITE};

	(void)state;
	share();
	focus_on_point();
	memory_give_turn();
	assert_true(site_reached((void *)(uintptr_t)OTHER, 8, &range, 0));
	site_perform();
	assert_int_equal(turns, 1);
	assert_false(site_reached((void *)(uintptr_t)OTHER, 8, &range, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_filter__wants_the_runs_variables_alone),
		TEST(test_filter__detectors_hear_of_atomic_accesses),
		TEST(test_filter__blocks_of_a_location_are_wanted),
		TEST(test_filter__gives_loops_the_wanted_bounds),
		TEST(test_filter__somebody_who_wants_a_turn_is_heard),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
