/* Tests the knowledge from accesses, and which accesses are scheduling points. */
#include "support/memory_scene.h"

static void test_memory__a_written_variable_of_two_threads_is_a_point_from_the_next_run(
	void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(1, 1, SITE_LOAD, 0x104, 4); /* the same eight bytes */
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(points, 0);
	assert_int_equal(memory->newly_shared, 1);
	run(2);
	assert_int_equal(count_points(), 1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(1, 1, SITE_LOAD, 0x104, 4);
	assert_int_equal(points, 2);
	assert_int_equal(last_op.kind, OP_LOAD);
	assert_true(last_op.object == memory_variable_name((void *)0x100));
	assert_int_equal(last_op.bytes, 4);
}

static void test_memory__names_are_made_once_until_memory_is_anothers(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(0, 0, SITE_STORE, 0x200, 4);
	names_made = 0;
	access_by(1, 1, SITE_LOAD, 0x100, 4);
	assert_int_equal(names_made, 0);
	assert_int_equal(memory->newly_shared, 1);
	lives = 1; /* a block is given out there, by one thread after the other */
	memory_renamed(0x1f8, 0x10);
	access_by(1, 1, SITE_STORE, 0x200, 4);
	assert_int_equal(names_made, 1);
	assert_int_equal(memory->newly_shared, 1);
	memory_renamed(0, SIZE_MAX);
	access_by(1, 1, SITE_STORE, 0x100, 4);
	assert_int_equal(names_made, 2);
	assert_int_equal(memory->newly_shared, 1);
	run(2);
	access_by(1, 1, SITE_STORE, 0x100, 4);
	assert_int_equal(names_made, 3); /* a run may have another block there */
	has_lasting_names = false;	 /* a stack, say */
	access_by(1, 1, SITE_STORE, 0x300, 4);
	names_made = 0;
	access_by(1, 1, SITE_STORE, 0x300, 4);
	assert_int_equal(names_made, 1);
}

static void test_memory__private_and_constant_variables_are_no_points(void **state)
{
	(void)state;
	for (uint64_t number = 1; number < 6; number++) {
		run(number);
		access_by(0, 0, SITE_STORE, 0x100, 8); /* one thread */
		access_by(0, 1, SITE_LOAD, 0x200, 8);  /* no thread writes */
		access_by(1, 1, SITE_LOAD, 0x200, 8);
		assert_int_equal(points, 0);
	}
	assert_int_equal(count_points(), 0);
}

static void test_memory__a_range_is_a_point_where_its_first_point_is(void **state)
{
	(void)state;
	run(1);
	access_by(0, 0, SITE_STORE, 0x118, 8);
	access_by(1, 1, SITE_RANGE_READ, 0x100, 64);
	run(2);
	access_by(1, 1, SITE_RANGE_READ, 0x100, 64);
	assert_int_equal(points, 1);
	assert_true(last_op.object == memory_variable_name((void *)0x118));
	assert_int_equal(last_op.bytes, 64);
}

static void test_memory__names_that_take_longer_are_found(void **state)
{
	(void)state;
	unnamed = 0x100;
	run(1);
	access_by(0, 0, SITE_STORE, 0x100, 8);
	access_by(1, 1, SITE_LOAD, 0x100, 8);
	run(2);
	access_by(1, 1, SITE_LOAD, 0x100, 8);
	assert_int_equal(points, 1);
	assert_true(last_op.object == memory_variable_name((void *)0x100));
}

static void test_memory__more_new_points_than_are_listed(void **state)
{
	const uint32_t count = MEMORY_NEWS_MAX + 10;

	(void)state;
	run(1);
	for (uint32_t i = 0; i < count; i++) {
		access_by(0, 0, SITE_STORE, 0x1000 + 8 * i, 8);
		access_by(1, 1, SITE_STORE, 0x1000 + 8 * i, 8);
	}
	run(2);
	assert_int_equal(count_points(), count);
	access_by(1, 1, SITE_STORE, 0x1000 + 8 * (count - 1), 8);
	assert_int_equal(points, 1);
}

static void test_memory__is_inactive_outside_of_runs(void **state)
{
	(void)state;
	run(1);
	runtime.is_forked_child = true;
	access_by(0, 0, SITE_STORE, 0x100, 8);
	runtime.is_forked_child = false;
	runtime.is_run_over = true;
	access_by(0, 0, SITE_STORE, 0x100, 8);
	assert_int_equal(memory->variable_count, 0);
	assert_int_equal(memory->sites[0] & SITE_SEEN, 0);
}

/* ---- loops that wait for what is not known to be shared ---- */

static void test_memory__repeated_reads_are_points(void **state)
{
	(void)state;
	run(1);
	for (unsigned i = 0; i < 3 * (WAITING_VISITS + 1); i++) {
		access_by(0, 0, SITE_LOAD, 0x100, 4);
		access_by(0, 1, SITE_LOAD, 0x200, 4);
	}
	assert_in_range(points, 2, 3);
	assert_int_equal(gave_way, points);
}

static void test_memory__reads_with_writes_in_between_are_not(void **state)
{
	(void)state;
	run(1);
	for (unsigned i = 0; i < 3 * WAITING_VISITS; i++) {
		access_by(0, 0, SITE_LOAD, 0x100, 4);
		access_by(0, 1, SITE_STORE, 0x200, 4);
	}
	assert_int_equal(points, 0);
}

static void test_memory__reads_all_over_an_array_are_not(void **state)
{
	(void)state;
	run(1);
	for (unsigned i = 0; i < 3 * WAITING_VISITS; i++)
		access_by(0, 0, SITE_LOAD, 0x1000 + i % 500 * 8, 8);
	assert_int_equal(points, 0);
}

static void test_memory__a_turn_is_given_at_the_next_access(void **state)
{
	(void)state;
	run(1);
	memory_give_turn();
	access_by(0, 0, SITE_STORE, 0x100, 4);
	access_by(0, 0, SITE_STORE, 0x100, 4);
	assert_int_equal(turns, 1);
	assert_int_equal(points, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_memory__a_written_variable_of_two_threads_is_a_point_from_the_next_run),
		TEST(test_memory__names_are_made_once_until_memory_is_anothers),
		TEST(test_memory__private_and_constant_variables_are_no_points),
		TEST(test_memory__a_range_is_a_point_where_its_first_point_is),
		TEST(test_memory__names_that_take_longer_are_found),
		TEST(test_memory__more_new_points_than_are_listed),
		TEST(test_memory__is_inactive_outside_of_runs),
		TEST(test_memory__repeated_reads_are_points),
		TEST(test_memory__reads_with_writes_in_between_are_not),
		TEST(test_memory__reads_all_over_an_array_are_not),
		TEST(test_memory__a_turn_is_given_at_the_next_access),
	};

	return cmocka_run_group_tests(tests, NULL, tear_down);
}
