/* Tests that sites rest in profiling runs, and that a run's points stay those of its replay. */
#include "support/memory_scene.h"

/* Performs accesses to different variables at site 0. */
static void perform(unsigned thread, uintptr_t first, unsigned count)
{
	const struct site_record record = {.kind = SITE_STORE, .bytes = 8};

	current = &threads[thread];
	for (unsigned i = 0; i < count; i++)
		if (site_reached((void *)(first + 8 * (uintptr_t)i), 0, &record, 0))
			site_perform();
}

static void begin(uint64_t number)
{
	memory->mode = MEMORY_LEARN;
	turned_off = 0;
	run(number);
	quick_begin_run();
	assert_true(memory->was_profile);
	memory->visits = ACCESSES_FIRST;
}

static void test_sampling__sites_rest_after_many_accesses(void **state)
{
	(void)state;
	begin(1);
	perform(0, 0x1000, LOOKS_FIRST - 1);
	assert_int_equal(turned_off, 0);
	perform(0, 0x10000, 1);
	assert_int_equal(turned_off, 1);
	assert_true(memory->sites[0] & SITE_RESTED);
	assert_false(memory->sites[0] & SITE_ON); /* a replay leaves it off */
	begin(2);
	assert_true(memory->sites[0] & SITE_ON);
	assert_false(memory->sites[0] & SITE_RESTED);
}

static void test_sampling__short_runs_are_not_sampled(void **state)
{
	(void)state;
	begin(1);
	memory->visits = 0;
	perform(0, 0x1000, 2 * LOOKS_FIRST);
	assert_int_equal(turned_off, 0);
	memory->visits = ACCESSES_FIRST;
	perform(0, 0x1000, 1);
	assert_int_equal(turned_off, 1);
}

static void test_sampling__some_later_runs_are_not_sampled(void **state)
{
	(void)state;
	for (uint64_t number = WHOLE_EVERY; number < WHOLE_EVERY + 3; number++) {
		contract.run_number = number;
		begin(number);
		perform(0, 0x1000, LOOKS_FIRST);
		assert_int_equal(turned_off, number == WHOLE_EVERY + 2);
	}
}

static void test_sampling__another_thread_wakes_sites(void **state)
{
	(void)state;
	begin(1);
	perform(0, 0x1000, LOOKS_FIRST);
	switches = 0;
	perform(1, 0x1000, 1);
	assert_int_equal(switches, 1);
	assert_int_equal(memory->newly_shared, 1);
	perform(1, 0x20000, LOOKS_LATER - 1);
	assert_int_equal(turned_off, 2);
	step = STEPS_FIRST;
	perform(1, 0x20000, 1);
	assert_int_equal(switches, 2);
	perform(1, 0x20000, 1);
	assert_int_equal(switches, 2);
}

static void test_sampling__sites_of_points_do_not_rest(void **state)
{
	(void)state;
	begin(1);
	perform(0, 0x100, 1);
	perform(1, 0x100, 1);
	begin(2);
	perform(0, 0x100, 1);
	assert_int_equal(points, 1);
	perform(0, 0x1000, 2 * LOOKS_FIRST);
	assert_int_equal(turned_off, 0);
}

/* The replay has no point there, because the site is off. */
static void test_sampling__rested_sites_learn_but_make_no_points(void **state)
{
	(void)state;
	begin(1);
	perform(0, 0x100, 1);
	perform(1, 0x100, 1);
	begin(2);
	memory->sites[0] &= (uint8_t)~SITE_SHARED;
	perform(0, 0x1000, LOOKS_FIRST);
	perform(1, 0x100, 3);
	assert_int_equal(points, 0);
	assert_true(memory->sites[0] & SITE_SHARED);
	memory->sites[0] |= SITE_ON;
	memory->sites[0] &= (uint8_t)~SITE_RESTED; /* as at another site */
	perform(1, 0x100, 1);
	assert_int_equal(points, 1);
}

static void test_sampling__only_where_nothing_depends_on_it(void **state)
{
	unsigned dfs = 0;

	(void)state;
	memory->knows_waiting = 1;
	begin(1);
	perform(0, 0x1000, 2 * LOOKS_FIRST);
	memory->knows_waiting = 0;
	while (!strategies[dfs]->search.is_exhausted)
		dfs++;
	contract.plan.strategy = dfs;
	begin(2);
	perform(0, 0x1000, 2 * LOOKS_FIRST);
	assert_int_equal(turned_off, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sampling__sites_rest_after_many_accesses),
		TEST(test_sampling__short_runs_are_not_sampled),
		TEST(test_sampling__some_later_runs_are_not_sampled),
		TEST(test_sampling__another_thread_wakes_sites),
		TEST(test_sampling__sites_of_points_do_not_rest),
		TEST(test_sampling__rested_sites_learn_but_make_no_points),
		TEST(test_sampling__only_where_nothing_depends_on_it),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
