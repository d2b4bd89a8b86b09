/* Blocks of a schedule: few tries leave the switches that a failure needs. */
#include "investigate/minimise/coalesce.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SEGMENTS 500000u

/* Two threads alternate. */
static struct failure alternating(uint32_t count)
{
	struct failure failure = {0};

	failure.segments = calloc(count, sizeof *failure.segments);
	assert_non_null(failure.segments);
	for (uint32_t i = 0; i < count; i++)
		failure.segments[i] = (struct schedule_segment){.thread = i % 2, .count = 1};
	failure.segment_count = count;
	failure.names = calloc(1, sizeof *failure.names);
	return failure;
}

/* Number of steps of thread 0 when thread 1 has made `steps` steps. */
static uint64_t steps_beside(const struct failure *failure, uint64_t steps)
{
	uint64_t made[2] = {0};

	for (uint32_t i = 0; i < failure->segment_count; i++) {
		const struct schedule_segment *segment = &failure->segments[i];

		if (segment->thread == 1 && made[1] + segment->count >= steps)
			break;
		made[segment->thread] += segment->count;
	}
	return made[0];
}

/* The failure shows when thread 1 makes a step right before that step of thread 0. */
static void assert_few_tries(uint64_t step)
{
	struct failure failure = alternating(SEGMENTS);
	struct coalesce_block block;
	uint32_t tries = 0;

	assert_int_equal(steps_beside(&failure, step), step);
	for (bool is_there = coalesce_first(&failure, &block); is_there; tries++) {
		struct failure joined = {0};
		const struct probe_plan plan = coalesce_plan(&joined, &failure, &block);
		const bool is_taken = steps_beside(&joined, step) == step &&
				      plan.segment_count < failure.segment_count;

		if (is_taken) {
			failure_release(&failure);
			failure = joined;
		} else {
			failure_release(&joined);
		}
		is_there = coalesce_next(&failure, &block, is_taken);
	}
	assert_in_range(tries, 1, 200);
	assert_in_range(failure.segment_count, 1, 8);
	failure_release(&failure);
}

static void test_coalesce__leaves_few_segments_after_few_tries(void **state)
{
	(void)state;
	for (uint64_t step = 1; step < SEGMENTS / 2; step = step * 7 + 3)
		assert_few_tries(step);
}

static void test_coalesce_plan__keeps_values_and_stalls_in_place(void **state)
{
	const struct coalesce_block block = {.start = 1, .end = 9};
	struct failure failure = alternating(10);
	struct failure joined = {0};
	const struct schedule_segment wanted[] = {{0, 0, 1}, {1, 0, 2}, {0, 0, 1},
		{0, SEGMENT_VALUE, 3}, {1, 0, 1}, {0, 0, 1}, {1, SEGMENT_STALLS, 1}, {0, 0, 1},
		{1, 0, 1}};

	(void)state;
	failure.segments[4] = wanted[3];
	failure.segments[7].flags = SEGMENT_STALLS;
	(void)coalesce_plan(&joined, &failure, &block);
	assert_int_equal(joined.segment_count, sizeof wanted / sizeof *wanted);
	assert_memory_equal(joined.segments, wanted, sizeof wanted);
	failure_release(&joined);
	failure_release(&failure);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_coalesce__leaves_few_segments_after_few_tries),
		cmocka_unit_test(test_coalesce_plan__keeps_values_and_stalls_in_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
