/* The detector ends the run at a judged access, unless the pair of locations is suppressed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "detectors/detector.h"
#include "detectors/weak.h"

extern const struct detector detector_weak;

static struct detector_event missing(uint64_t site, uint64_t other)
{
	return (struct detector_event){
		.kind = OP_ATOMIC_LOAD,
		.site = site,
		.address = 64,
		.thread = {2},
		.messages.missed = {.site = other,
			.step = 7,
			.writer = {1},
			.model = MEMORY_MODEL_C11,
			.op = OP_STORE},
	};
}

static void weak__ends_the_run_at_a_missed_store(void **unused)
{
	void *state = calloc(1, detector_weak.state_bytes);
	struct detector_event event = missing(10, 20);
	struct outcome verdict;

	(void)unused;
	assert_non_null(state);
	detector_weak.begin_run(state);
	assert_true(detector_weak.observe(state, &event, &verdict));
	assert_int_equal(verdict.kind, OUTCOME_WEAK);
	assert_int_equal(verdict.code, MEMORY_MODEL_C11);
	assert_int_equal(verdict.site, 10);
	assert_int_equal(verdict.other_site, 20);
	assert_int_equal(verdict.other_step, 7);
	assert_int_equal(verdict.other_thread.index, 1);
	assert_int_equal(verdict.other_op, OP_STORE);
	event.messages.missed.site = 0;
	assert_false(detector_weak.observe(state, &event, &verdict));
	free(state);
}

static void weak_ignore__lasts_for_all_runs(void **unused)
{
	void *state = calloc(1, detector_weak.state_bytes);
	struct detector_event event = missing(10, 20);
	struct outcome verdict;

	(void)unused;
	assert_non_null(state);
	assert_true(weak_ignore(state, (struct race_pair){.site = 20, .other = 10}));
	detector_weak.begin_run(state);
	assert_false(detector_weak.observe(state, &event, &verdict));
	event = missing(10, 21);
	assert_true(detector_weak.observe(state, &event, &verdict));
	for (uint64_t i = 1; i < RACE_IGNORED_MAX; i++)
		assert_true(weak_ignore(state, (struct race_pair){.site = i, .other = i}));
	assert_false(weak_ignore(state, (struct race_pair){.site = 1, .other = 2}));
	free(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weak__ends_the_run_at_a_missed_store),
		cmocka_unit_test(weak_ignore__lasts_for_all_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
