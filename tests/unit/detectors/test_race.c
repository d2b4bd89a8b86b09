/* The race detector's verdicts and its state: ignored pairs, runs one after the other, lack of memory. */
#include "detectors/race.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "support/race_events.h"

static void test_race__describes_both_accesses(void **unused)
{
	static const struct detector_event events[] = {
		TWO, ACCESS(ATOMIC_STORE, 1, X + 2, 2, RELEASE), ACCESS(STORE, 2, X, 8, 0)};
	struct outcome verdict;

	(void)unused;
	assert_int_equal(first_race(events, 4, &verdict), 4);
	assert_int_equal(verdict.kind, OUTCOME_RACE);
	assert_int_equal(verdict.thread.index, 2);
	assert_int_equal(verdict.op, OP_STORE);
	assert_int_equal(verdict.address, X + 2);
	assert_int_equal(verdict.other_thread.index, 1);
	assert_int_equal(verdict.other_op, OP_ATOMIC_STORE);
	assert_int_equal(verdict.other_step, 102);
}

static void test_race__memory_under_another_name_has_no_past(void **unused)
{
	struct detector_event events[] = {TWO, WRITE(1), WRITE(2)};
	struct outcome verdict;

	(void)unused;
	events[3].object = 2;
	assert_int_equal(first_race(events, 4, &verdict), 0);
}

static void test_race__ignored_pairs_end_no_run(void **unused)
{
	static const struct detector_event events[] = {TWO, READ(1), WRITE(2), WRITE(1)};
	struct outcome verdict;

	(void)unused;
	assert_int_equal(first_race(events, 5, &verdict), 4);
	assert_true(race_ignore(state, (struct race_pair){.site = 4, .other = 3}));
	assert_int_equal(first_race(events, 5, &verdict), 5);
	assert_int_equal(verdict.other_site, 4);
	assert_int_equal(race_ignored_count(state), 1);
	assert_true(race_ignore(state, (struct race_pair){.site = 4, .other = 5}));
	assert_int_equal(first_race(events, 5, &verdict), 0);
}

static void test_race__where_it_only_watches_no_run_ends(void **unused)
{
	static const struct detector_event events[] = {TWO, READ(1), WRITE(2), WRITE(1), WRITE(2)};
	const struct race_seen *seen;
	struct outcome verdict;

	(void)unused;
	race_watch(state);
	assert_int_equal(first_race(events, 6, &verdict), 0);
	assert_int_equal(race_seen_list(state, &seen), 3);
	assert_int_equal(seen[0].pair.site, 4);
	assert_int_equal(seen[0].pair.other, 3);
	assert_int_equal(seen[0].address, X);
	assert_int_equal(seen[0].op, OP_STORE);
	assert_int_equal(seen[0].other_op, OP_LOAD);
	assert_int_equal(seen[1].pair.site, 5);
	assert_int_equal(seen[2].pair.site, 6);
	assert_int_equal(seen[2].pair.other, 5);
	/* Each pair once, in any run. */
	assert_int_equal(first_race(events, 6, &verdict), 0);
	assert_int_equal(race_seen_list(state, &seen), 3);
}

static void test_race__an_ignored_reader_does_not_hide_the_others(void **unused)
{
	static const struct detector_event events[] = {TWO, READ(1), READ(2), WRITE(0)};
	struct outcome verdict;

	(void)unused;
	assert_true(race_ignore(state, (struct race_pair){.site = 3, .other = 5}));
	assert_int_equal(first_race(events, 5, &verdict), 5);
	assert_int_equal(verdict.other_site, 4);
}

static void test_race__the_list_of_pairs_ends(void **unused)
{
	(void)unused;
	for (unsigned i = 0; i < RACE_IGNORED_MAX; i++)
		assert_true(race_ignore(state, (struct race_pair){.site = i, .other = i}));
	assert_false(race_ignore(state, (struct race_pair){.site = 1, .other = 2}));
}

static void test_race__a_run_knows_nothing_of_the_last(void **unused)
{
	static const struct detector_event first[] = {TWO, WRITE(1), READ(0)};
	static const struct detector_event second[] = {TWO, WRITE(2), ON(SEM_POST, 1, M)};
	struct outcome verdict;

	(void)unused;
	for (unsigned i = 0; i < 1000; i++) {
		assert_int_equal(first_race(first, 4, &verdict), 4);
		assert_int_equal(first_race(second, 4, &verdict), 0);
	}
}

/* Hundreds of threads that read in turn, then one that writes. */
static void test_race__finds_the_one_reader_that_was_not_joined(void **unused)
{
	enum { THREADS = 600, LAZY = 417 };
	struct outcome verdict;
	struct detector_event event;

	(void)unused;
	detectors[DETECTOR_race]->begin_run(state);
	for (uint16_t i = 1; i <= THREADS; i++) {
		event = (struct detector_event)CREATE(0, i);
		assert_false(observe(&event, &verdict));
		event = (struct detector_event)READ(i);
		event.site = i;
		assert_false(observe(&event, &verdict));
	}
	for (uint16_t i = 1; i <= THREADS; i++) {
		event = (struct detector_event)JOIN(0, i);
		if (i != LAZY)
			assert_false(observe(&event, &verdict));
	}
	event = (struct detector_event)WRITE(0);
	assert_true(observe(&event, &verdict));
	assert_int_equal(verdict.other_site, LAZY);
}

/* More locks than there is room for: the order they make is not known, so nothing is a race. */
static void test_race__is_silent_once_it_cannot_know(void **unused)
{
	struct outcome verdict;
	struct detector_event event;

	(void)unused;
	detectors[DETECTOR_race]->begin_run(state);
	for (uint64_t i = 0; i < 70000; i++) {
		event = (struct detector_event)ON(MUTEX_UNLOCK, 0, 0x10000 + 64 * i);
		assert_false(observe(&event, &verdict));
	}
	assert_int_equal(race_blind_runs(state), 1);
	event = (struct detector_event)WRITE(1);
	assert_false(observe(&event, &verdict));
	event = (struct detector_event)WRITE(2);
	assert_false(observe(&event, &verdict));
	/* The next run sees again. */
	detectors[DETECTOR_race]->begin_run(state);
	event = (struct detector_event)WRITE(1);
	assert_false(observe(&event, &verdict));
	event = (struct detector_event)WRITE(2);
	assert_true(observe(&event, &verdict));
}

static void test_race__is_silent_once_memory_does_not_fit(void **unused)
{
	struct outcome verdict;
	struct detector_event event;

	(void)unused;
	detectors[DETECTOR_race]->begin_run(state);
	for (uint64_t i = 0; i < 500000; i++) {
		event = (struct detector_event)ACCESS(STORE, 1, 0x10000 + 8 * i, 8, 0);
		assert_false(observe(&event, &verdict));
	}
	assert_int_equal(race_blind_runs(state), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_state, free_state)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_race__describes_both_accesses),
		TEST(test_race__memory_under_another_name_has_no_past),
		TEST(test_race__ignored_pairs_end_no_run),
		TEST(test_race__where_it_only_watches_no_run_ends),
		TEST(test_race__an_ignored_reader_does_not_hide_the_others),
		TEST(test_race__the_list_of_pairs_ends),
		TEST(test_race__a_run_knows_nothing_of_the_last),
		TEST(test_race__finds_the_one_reader_that_was_not_joined),
		TEST(test_race__is_silent_once_it_cannot_know),
		TEST(test_race__is_silent_once_memory_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
