#include "investigate/trace_window.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define MILLION UINT64_C(1000000)

static void set_up(struct failure *failure, struct schedule_segment segments[2], uint32_t alone)
{
	*failure = (struct failure){
		.segments = segments, .segment_count = 2, .step_count = 10 * MILLION};
	failure->outcome.kind = OUTCOME_LIVELOCK;
	segments[0] = (struct schedule_segment){.thread = 0, .count = 10000000 - alone};
	segments[1] = (struct schedule_segment){.thread = 1, .count = alone};
}

static void test_trace_window_apply__keeps_what_led_to_a_loop(void **state)
{
	struct schedule_segment segments[2];
	struct probe_params params = {0};
	struct failure failure;

	(void)state;
	set_up(&failure, segments, 4000000);
	trace_window_apply(&params, &failure);
	assert_in_range(params.trace_from, 5 * MILLION, 6 * MILLION - 1000);
	assert_in_range(params.trace_from + params.trace_events, 6 * MILLION + 1000, 7 * MILLION);
}

static void test_trace_window_apply__keeps_the_end_of_taking_turns(void **state)
{
	struct schedule_segment segments[2];
	struct probe_params params = {0};
	struct failure failure;

	(void)state;
	set_up(&failure, segments, 1);
	trace_window_apply(&params, &failure);
	assert_in_range(params.trace_from, 9 * MILLION, 10 * MILLION - 1000);
	assert_in_range(params.trace_from + params.trace_events, 10 * MILLION, 11 * MILLION);
}

static void test_trace_window_apply__keeps_all_of_other_failures(void **state)
{
	struct schedule_segment segments[2];
	struct probe_params params = {0};
	struct failure failure;

	(void)state;
	set_up(&failure, segments, 4);
	failure.outcome.kind = OUTCOME_ABORT;
	failure.step_count = MILLION;
	trace_window_apply(&params, &failure);
	assert_int_equal(params.trace_from, 0);
	assert_in_range(params.trace_events, MILLION, 3 * MILLION);
}

static void test_trace_window_loop_limit__is_behind_what_led_to_the_loop(void **state)
{
	struct schedule_segment segments[2];
	struct finding finding = {0};
	struct failure failure;

	(void)state;
	set_up(&failure, segments, 4000000);
	finding.schedule.segments = segments;
	finding.schedule.segment_count = 2;
	finding.schedule.step_count = 10 * MILLION;
	assert_in_range(
		trace_window_loop_limit(&finding, 10 * MILLION), 6 * MILLION + 1, 7 * MILLION);
	set_up(&failure, segments, 1);
	assert_in_range(trace_window_loop_limit(&finding, 10 * MILLION), 1000, MILLION);
	/* A run that passes is far from the limit. */
	finding.passing_steps_left_out = 100000;
	assert_in_range(trace_window_loop_limit(&finding, 10 * MILLION), 2 * MILLION, 10 * MILLION);
	finding.passing_steps_left_out = MILLION;
	assert_int_equal(trace_window_loop_limit(&finding, 10 * MILLION), 10 * MILLION);
	assert_int_equal(trace_window_loop_limit(&finding, 1), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_window_apply__keeps_what_led_to_a_loop),
		cmocka_unit_test(test_trace_window_apply__keeps_the_end_of_taking_turns),
		cmocka_unit_test(test_trace_window_apply__keeps_all_of_other_failures),
		cmocka_unit_test(test_trace_window_loop_limit__is_behind_what_led_to_the_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
