/* The locations where a run is divided, and the knowledge about the time before a part. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "branches/interpret/walk_internal.h"

static void weigh(struct walker *walker, uint64_t position, uint32_t times)
{
	walker->position = position;
	while (times--)
		walk_weigh(walker);
}

static void test_divide__keeps_parts_below_the_limit_and_leaves_nothing_out(void **state)
{
	struct walk walk = {0};
	struct walker walker = {.walk = &walk};
	struct walk_part *parts;
	uint32_t count;

	(void)state;
	weigh(&walker, 0, 30);
	weigh(&walker, 3, 60);
	weigh(&walker, 4, 20);
	weigh(&walker, 2000, 500); /* more than a part should have: it is one alone */
	weigh(&walker, 2001, 90);
	weigh(&walker, 2002, 10);
	count = walk_divide(&walk, 100, &parts);
	assert_int_equal(count, 4);
	assert_int_equal(parts[0].begin, 0);
	for (uint32_t i = 1; i < count; i++)
		assert_int_equal(parts[i].begin, parts[i - 1].end);
	assert_int_equal(parts[1].begin, 4);
	assert_int_equal(parts[2].begin, 2000);
	assert_int_equal(parts[3].begin, 2001);
	assert_int_equal(parts[3].end, 0);
	free(parts);
	count = walk_divide(&walk, 1000, &parts);
	assert_int_equal(count, 1);
	assert_int_equal(parts[0].begin, 0);
	assert_int_equal(parts[0].end, 0);
	free(parts);
	free(walk.weights);
}

/* If more memory turns out to be shared, sites are chosen once more. */
static void test_weights__are_those_of_the_last_walk(void **state)
{
	const struct run_record record = {.thread_count = 0};
	struct walk walk = {.record = &record, .objects.is_complete = true};
	struct walker walker = {.walk = &walk};

	(void)state;
	walk.threads = calloc(1, sizeof *walk.threads);
	assert_non_null(walk.threads);
	weigh(&walker, 7, 3);
	walk_run(&walk, WALK_CHOOSING);
	weigh(&walker, 7, 4);
	assert_int_equal(walk.weights[7], 4);
	walk_close(&walk);
}

/* A thread that is walked later may have written earlier. */
static void test_before__is_the_last_write_of_the_run(void **state)
{
	struct walk walk = {0};
	struct walker walker = {.walk = &walk};
	uint64_t value = UINT64_C(0xaabbccdd);

	(void)state;
	walker.position = 9;
	walk_note_before(&walker, 0x1002, 2, 0x1122);
	walker.position = 5;
	walk_note_before(&walker, 0x1000, 4, 0x44556677);
	assert_int_equal(walk_before(&walk, 0x1000, 4, &value), 4);
	assert_int_equal(value, 0x11226677);
	value = 0xaabbccdd;
	assert_int_equal(walk_before(&walk, 0x1003, 4, &value), 1);
	assert_int_equal(value, 0xaabbcc11);
	value = 5;
	assert_int_equal(walk_before(&walk, 0x2000, 8, &value), 0);
	assert_int_equal(value, 5);
	for (uint64_t i = 0; i < 5000; i++)
		walk_note_before(&walker, 0x10000 + 8 * i, 8, i);
	assert_int_equal(walk_before(&walk, 0x10000 + 8 * 4321, 8, &value), 8);
	assert_int_equal(value, 4321);
	slots_release(&walk.before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_weights__are_those_of_the_last_walk),
		cmocka_unit_test(test_divide__keeps_parts_below_the_limit_and_leaves_nothing_out),
		cmocka_unit_test(test_before__is_the_last_write_of_the_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
