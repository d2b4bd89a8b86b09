/* Candidates: which are equal, which end of a run shows one, and their words. */
#include "findings/describe/candidate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "trace/schedule_text.h"

static struct candidate_location location(
	const char *thread, uint32_t wanted, uint64_t site, uint32_t held, uint64_t held_site)
{
	return (struct candidate_location){.thread = thread_path_name(thread),
		.op = {.kind = OP_MUTEX_LOCK,
			.object = wanted,
			.address = 0x1000 * wanted,
			.site = site},
		.taken = {.kind = OP_MUTEX_LOCK,
			.object = held,
			.address = 0x1000 * held,
			.site = held_site}};
}

/* Two threads, lines 10 to 12. */
static struct candidate circle(const char *first, const char *second, uint32_t lock)
{
	struct candidate candidate = {.location_count = 2};

	candidate.locations[0] = location(first, lock + 1, 11, lock, 10);
	candidate.locations[1] = location(second, lock, 12, lock + 1, 10);
	candidate.key = candidate_key(&candidate);
	return candidate;
}

static void test_candidates__are_equal_by_code(void **unused)
{
	struct candidate one = circle("main.0", "main.1", 1);
	struct candidate same = circle("main.3", "main.2", 7);
	struct candidate longer = one, other = one;
	struct candidates all = {0};

	(void)unused;
	/* A third thread at the line of the first. */
	longer.locations[2] = location("main.2", 3, 11, 2, 10);
	longer.location_count = 3;
	longer.key = candidate_key(&longer);
	other.locations[1].taken.site = 13;
	other.key = candidate_key(&other);
	candidates_add(&all, &one);
	candidates_add(&all, &same);
	candidates_add(&all, &longer);
	assert_int_equal(all.count, 1);
	assert_int_equal(all.items[0].times, 3);
	candidates_add(&all, &other);
	assert_int_equal(all.count, 2);
	candidates_release(&all);
	assert_null(all.items);
}

static void add_wait(struct outcome *outcome, uint64_t site, bool is_on_cycle)
{
	outcome->waits[outcome->wait_count++] =
		(struct wait_edge){.op = OP_MUTEX_LOCK, .site = site, .is_on_cycle = is_on_cycle};
}

static void test_candidate__is_shown_by_its_own_circle_only(void **unused)
{
	const struct candidate candidate = circle("main.0", "main.1", 1);
	struct outcome outcome;

	(void)unused;
	outcome_set(&outcome, OUTCOME_DEADLOCK, THREAD_NONE, 0);
	assert_false(candidate_is_shown(&candidate, &outcome));
	add_wait(&outcome, 11, true);
	/* A circle through one of its locations is another one. */
	assert_false(candidate_is_shown(&candidate, &outcome));
	add_wait(&outcome, 12, true);
	assert_true(candidate_is_shown(&candidate, &outcome));
	/* Other waiting threads do not matter; threads on the cycle do. */
	add_wait(&outcome, 99, false);
	assert_true(candidate_is_shown(&candidate, &outcome));
	outcome.waits[2].is_on_cycle = 1;
	assert_false(candidate_is_shown(&candidate, &outcome));
	outcome.waits[2].is_on_cycle = 0;
	outcome.kind = OUTCOME_ABORT;
	assert_false(candidate_is_shown(&candidate, &outcome));
}

static void test_candidate__is_described_without_being_called_a_deadlock(void **unused)
{
	struct candidate candidate = circle("main.0", "main.1", 1);
	struct thread_record threads[3] = {{.ordinal = 0}, {.ordinal = 0}, {.ordinal = 1}};
	struct trace_event events[2];
	struct finding_source source = {
		.threads = threads, .thread_count = 3, .events = events, .event_count = 2};
	struct error err;

	(void)unused;
	events[0] = candidate.locations[0].taken;
	events[0].thread = 1;
	events[1] = candidate.locations[1].taken;
	events[1].thread = 2;
	events[1].step = 1;
	assert_int_equal(candidate_describe(&candidate, &source, NULL, &err), 0);
	assert_int_equal(candidate.wait_count, 2);
	assert_string_equal(candidate.waits[0].thread, "main.0");
	assert_string_equal(candidate.waits[0].holder, "main.1");
	assert_string_equal(candidate.waits[1].verb, "locks");
	assert_non_null(strstr(candidate.title, "main.0 locks mutex"));
	assert_non_null(strstr(candidate.title, "while it holds mutex"));
	assert_null(strstr(candidate.title, "deadlock"));
	free(candidate.title);
	candidate.title = NULL;
	/* A run that contradicts itself is an error and leaves it as it was. */
	{
		struct candidates all = {0};

		candidates_add(&all, &candidate);
		events[1].step = 0;
		events[0].step = 5;
		all.items[0].title = NULL;
		assert_true(candidate_describe(&all.items[0], &source, NULL, &err) < 0);
		assert_null(all.items[0].title);
		candidates_release(&all);
	}
}

/* Three of one pair of units and one of another, and one cycle of locks. */
static void test_candidates__are_mixed_by_units(void **state)
{
	static const char *const units[][2] = {
		{"copy", "clear"}, {"copy", "clear"}, {"copy", "add"}, {"copy", "clear"}};
	static const uint64_t expected[] = {1, 3, 5, 2, 4};
	struct candidates candidates = {0};

	(void)state;
	for (uint64_t i = 0; i < 4; i++)
		candidates_add(
			&candidates, &(struct candidate){.kind = CANDIDATE_VIOLATION,
					     .key = i + 1,
					     .units = {strdup(units[i][0]), strdup(units[i][1])}});
	candidates_add(&candidates, &(struct candidate){.kind = CANDIDATE_LOCK_CYCLE, .key = 5});
	candidates_mix(&candidates);
	assert_int_equal(candidates.count, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(candidates.items[i].key, expected[i]);
	candidates_release(&candidates);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_candidates__are_equal_by_code),
		cmocka_unit_test(test_candidate__is_shown_by_its_own_circle_only),
		cmocka_unit_test(test_candidate__is_described_without_being_called_a_deadlock),
		cmocka_unit_test(test_candidates__are_mixed_by_units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
