/* Tests whether a driven run had two threads before the two accesses of a race at the same time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyses/races.c"

static const struct trace_event *given;
static uint32_t given_count;

struct trace_event *analysis_read_events(
	struct trace_reader *trace, uint32_t *total, struct error *err)
{
	struct trace_event *events = calloc(given_count, sizeof *events);

	(void)trace;
	(void)err;
	assert_non_null(events);
	memcpy(events, given, given_count * sizeof *events);
	*total = given_count;
	return events;
}

#define X 0x100
#define READ(thread_, address_)                                                                    \
	{                                                                                          \
		.thread = (thread_), .kind = OP_LOAD, .site = 1, .address = (address_), .bytes = 4 \
	}
#define WRITE(thread_, address_)                                                                   \
	{                                                                                          \
		.thread = (thread_), .kind = OP_STORE, .site = 2, .address = (address_),           \
		.bytes = 4                                                                         \
	}
#define LOCK(thread_)                                                                              \
	{                                                                                          \
		.thread = (thread_), .kind = OP_MUTEX_LOCK, .address = 8                           \
	}
#define UNLOCK(thread_)                                                                            \
	{                                                                                          \
		.thread = (thread_), .kind = OP_MUTEX_UNLOCK, .address = 8                         \
	}
#define ENTER(thread_)                                                                             \
	{                                                                                          \
		.thread = (thread_), .kind = OP_ENTER,                                             \
	}

static const struct candidate candidate = {.kind = CANDIDATE_RACE,
	.locations = {{.op = {.kind = OP_LOAD, .site = 1}}, {.op = {.kind = OP_STORE, .site = 2}}},
	.location_count = 2};

#define SHOWS(...)                                                                                 \
	shows((const struct trace_event[]){LOCK(0), __VA_ARGS__},                                  \
		sizeof((const struct trace_event[]){LOCK(0), __VA_ARGS__}))

static bool shows(const struct trace_event *events, size_t size)
{
	bool is_shown;

	given = events;
	given_count = (uint32_t)(size / sizeof *events);
	assert_int_equal(races_shown(NULL, &candidate, &is_shown, NULL), 0);
	return is_shown;
}

static void test_races__are_shown_by_accesses_side_by_side(void **unused)
{
	(void)unused;
	assert_true(SHOWS(READ(0, X), WRITE(1, X)));
	assert_true(SHOWS(WRITE(1, X), READ(0, X)));
	/* Ops of other threads in between, and functions entered meanwhile, do not matter. */
	assert_true(SHOWS(LOCK(1), READ(0, X), LOCK(0), LOCK(2), ENTER(1), WRITE(1, X)));
	assert_true(SHOWS(READ(0, X), WRITE(1, X + 2)));
}

static void test_races__are_not_shown_by_less(void **unused)
{
	(void)unused;
	/* Its thread reached it later. */
	assert_false(SHOWS(READ(0, X), LOCK(1), WRITE(1, X)));
	assert_false(SHOWS(READ(0, X), WRITE(0, X)));
	assert_false(SHOWS(READ(0, X), WRITE(1, X + 4)));
	assert_false(SHOWS(READ(0, X), READ(1, X)));
	assert_false(SHOWS(WRITE(0, X)));
}

/* How often a thread has read a variable under a lock says nothing about a read without it. */
static void test_races__are_found_beyond_two_accesses_under_a_lock(void **unused)
{
	static const struct trace_event events[] = {LOCK(0), READ(0, X), UNLOCK(0), LOCK(0),
		READ(0, X), UNLOCK(0), READ(0, X), LOCK(1), WRITE(1, X), UNLOCK(1)};
	struct trace_thread threads[2] = {{.path = "main"}, {.path = "main.0"}};
	const struct trace_run run = {.threads = threads, .thread_count = 2};
	static const struct symbols_memory no_memory;
	struct candidates found = {0};
	struct race_search search = {.out = &found};
	struct atomic_sets *sets = atomic_sets_new(NULL, &no_rules);
	struct unit_trace *units;

	(void)unused;
	atomic_sets_begin_run(sets, &no_memory, events, sizeof events / sizeof *events);
	search.trace = units = unit_trace_new(sets, &run, events, sizeof events / sizeof *events);
	races_search_locations(&search);
	assert_int_equal(found.count, 1);
	assert_int_equal(found.items[0].locations[0].op.kind, OP_LOAD);
	candidates_release(&found);
	unit_trace_free(units);
	atomic_sets_free(sets);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_races__are_shown_by_accesses_side_by_side),
		cmocka_unit_test(test_races__are_not_shown_by_less),
		cmocka_unit_test(test_races__are_found_beyond_two_accesses_under_a_lock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
