/* What threads at full speed tell: put in one order, and counted where it was overwritten. */
#include "commands/explain/noise_log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "detectors/detector.h"
#include "detectors/patterns.h"
#include "platform/platform.h"

/* A contract with nothing but its head and this part. */
static struct contract *contract;
static struct contract_noise *noise;
static void *patterns;
static struct noise_log reader;

static int set_up(void **unused)
{
	(void)unused;
	contract = calloc(1, sizeof *contract + sizeof *noise);
	patterns = calloc(1, detectors[DETECTOR_patterns]->state_bytes());
	if (!contract || !patterns)
		return -1;
	contract->noise_offset = sizeof *contract;
	noise = contract_area(contract, contract->noise_offset);
	noise_log_begin(&reader, contract, patterns);
	return 0;
}

static int tear_down(void **unused)
{
	(void)unused;
	free(contract);
	free(patterns);
	return 0;
}

static void tell(uint16_t thread, uint64_t time, bool is_write, uint64_t address, uint32_t block)
{
	struct noise_ring *ring = &noise->rings[thread];

	ring->events[ring->written++ % NOISE_EVENTS] = (struct noise_event){
		.time = time,
		.site = UINT64_C(0x100) * (thread + 1u) + is_write,
		.address = address,
		.block = block,
		.class = NOISE_CLASS_STATIC,
		.thread = thread,
		.bytes = 8,
		.is_write = is_write,
	};
}

static uint32_t count_of(enum pattern_kind kind)
{
	const struct pattern *found;
	uint32_t count = patterns_of_run(patterns, &found), of_kind = 0;

	for (uint32_t i = 0; i < count; i++)
		of_kind += found[i].kind == kind;
	return of_kind;
}

static void test_noise_log__threads_are_merged_by_time(void **unused)
{
	(void)unused;
	tell(0, 10, false, 64, 0);
	tell(0, 30, true, 64, 0);
	tell(1, 20, true, 64, 0);
	noise_log_read(&reader, true);
	assert_int_equal(count_of(PATTERN_RWW), 1);
	assert_int_equal(count_of(PATTERN_WR), 0);
	assert_int_equal(noise_log_lost(&reader), 0);
}

static void test_noise_log__newest_events_wait_for_the_end(void **unused)
{
	(void)unused;
	tell(0, platform_time_stamp() + (UINT64_C(1) << 40), true, 64, 0);
	tell(1, 1, true, 64, 0);
	noise_log_read(&reader, false);
	assert_int_equal(reader.step, 1);
	noise_log_read(&reader, true);
	assert_int_equal(reader.step, 2);
	assert_int_equal(count_of(PATTERN_WW), 1);
}

static void test_noise_log__blocks_at_one_address_are_different_variables(void **unused)
{
	(void)unused;
	tell(0, 10, true, 64, 1);
	tell(1, 20, true, 64, 2);
	noise_log_read(&reader, true);
	assert_int_equal(count_of(PATTERN_WW), 0);
}

static void test_noise_log__overwritten_events_are_counted(void **unused)
{
	const uint32_t told = 3 * NOISE_EVENTS;

	(void)unused;
	for (uint32_t i = 0; i < told; i++)
		tell(0, 10 + i, true, 64, 0);
	noise->lost = 7;
	noise_log_read(&reader, true);
	assert_int_equal(reader.step + noise_log_lost(&reader), told + 7);
	assert_true(noise_log_lost(&reader) >= told - NOISE_EVENTS);
}

static void test_noise_log__next_run_begins_where_the_last_ended(void **unused)
{
	(void)unused;
	tell(0, 10, true, 64, 0);
	noise_log_begin(&reader, contract, patterns);
	tell(1, 20, true, 64, 0);
	noise_log_read(&reader, true);
	assert_int_equal(reader.step, 1);
	assert_int_equal(count_of(PATTERN_WW), 0);
}

static void test_noise_log__kinds_of_blocks_are_known(void **unused)
{
	const struct pattern *found;

	(void)unused;
	noise->classes[NOISE_CLASS_BLOCKS + 3] = 0x4242;
	tell(0, 10, true, 64, 1);
	noise->rings[0].events[0].class = NOISE_CLASS_BLOCKS + 3;
	tell(1, 20, true, 64, 1);
	noise->rings[1].events[0].class = NOISE_CLASS_BLOCKS + 3;
	noise_log_read(&reader, true);
	assert_int_equal(patterns_of_run(patterns, &found), 1);
	assert_int_equal(noise_class_site(noise, found[0].classes[0]), 0x4242);
	assert_int_equal(noise_class_site(noise, 1 + NOISE_CLASS_STATIC), 0);
	assert_int_equal(noise_class_site(noise, UINT32_MAX), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(test_noise_log__##name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(threads_are_merged_by_time),
		TEST(newest_events_wait_for_the_end),
		TEST(blocks_at_one_address_are_different_variables),
		TEST(overwritten_events_are_counted),
		TEST(next_run_begins_where_the_last_ended),
		TEST(kinds_of_blocks_are_known),
	};

	return cmocka_run_group_tests_name("noise_log", tests, NULL, NULL);
}
