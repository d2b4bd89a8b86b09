/*
 * The running example of "Falcon: Fault Localization in Concurrent Programs" (ICSE 2010), figure 1.
 * It has three threads, two variables that begin as 0, and four runs, of which the last one fails.
 *
 *	thread 1			thread 2		thread 3
 *	1: if (x == 0) x = 1		4: if (x == 1) x = 2	6: if (x == 1) x = 3
 *	2: if (y == 0) y = 1		5: if (y == 1) y = 2	7: if (y == 1) y = 3
 *	3: if (x == 2 & y == 2) assert(false)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyses/patterns.h"
#include "detectors/detector.h"
#include "detectors/patterns.h"

enum { X, Y };

struct machine {
	void *state;
	uint64_t step;
	int values[2];
};

/* Reads and writes of one line have one location, as in the figure. */
static void access_variable(struct machine *machine, unsigned line, int variable, bool is_write)
{
	const uint16_t thread = line <= 3 ? 1 : line <= 5 ? 2 : 3;
	const struct detector_event event = {
		.step = machine->step++,
		.site = line,
		.address = 64 * (unsigned)(variable + 1),
		.object = (object_name)variable + 1,
		.bytes = 4,
		.thread = {thread},
		.role = thread,
		.kind = is_write ? OP_STORE : OP_LOAD,
	};
	struct outcome verdict;

	assert_false(detectors[DETECTOR_patterns]->observe(machine->state, &event, &verdict));
}

/* "if (variable == from) variable = to" */
static void set_if(struct machine *machine, unsigned line, int variable, int from, int to)
{
	access_variable(machine, line, variable, false);
	if (machine->values[variable] != from)
		return;
	access_variable(machine, line, variable, true);
	machine->values[variable] = to;
}

/* Performs a line. Returns true if the assertion failed. */
static bool perform(struct machine *machine, unsigned line)
{
	static const int to[] = {[4] = 2, [5] = 2, [6] = 3, [7] = 3};

	if (line == 3) {
		access_variable(machine, line, X, false);
		access_variable(machine, line, Y, false);
		return machine->values[X] == 2 && machine->values[Y] == 2;
	}
	if (line <= 2)
		set_if(machine, line, line == 1 ? X : Y, 0, 1);
	else
		set_if(machine, line, line % 2 == 0 ? X : Y, 1, to[line]);
	return false;
}

/* The lines of the figure's four runs, in their order. */
static const unsigned runs[4][7] = {
	{1, 2, 6, 7, 4, 5, 3},
	{1, 2, 6, 5, 7, 4, 3},
	{1, 2, 4, 7, 5, 6, 3},
	{1, 2, 4, 5, 6, 7, 3},
};

static void test_example__the_two_patterns_rank_first(void **unused)
{
	struct machine machine = {.state = calloc(1, detectors[DETECTOR_patterns]->state_bytes)};
	struct pattern_ranking ranking = {0};
	unsigned atomicity = 0;

	(void)unused;
	assert_non_null(machine.state);
	for (unsigned run = 0; run < 4; run++) {
		const struct pattern *patterns;
		struct pattern kept[64];
		uint32_t count, kept_count = 0;
		bool has_failed = false;

		detectors[DETECTOR_patterns]->begin_run(machine.state);
		machine.values[X] = machine.values[Y] = 0;
		for (unsigned i = 0; i < 7; i++)
			has_failed = perform(&machine, runs[run][i]);
		assert_int_equal(has_failed, run == 3);
		count = patterns_of_run(machine.state, &patterns);
		/* The figure has only atomicity patterns. */
		for (uint32_t i = 0; i < count; i++)
			if (pattern_access_count(&patterns[i]) == 3)
				kept[kept_count++] = patterns[i];
		pattern_ranking_add(&ranking, kept, kept_count, has_failed);
	}
	pattern_ranking_sort(&ranking, SUSPICION_JACCARD);
	for (uint32_t i = 0; i < ranking.count; i++) {
		const struct pattern_record *record = &ranking.records[i];

		atomicity++;
		assert_int_equal(record->pattern.kind, PATTERN_WWR);
		assert_int_equal(record->pattern.threads[0], 1);
		/* The patterns of thread 2 on x and on y have rank 1 and 2, tied. */
		if (record->pattern.threads[1] == 2) {
			assert_float_equal(record->score, 0.5, 1e-12);
			assert_float_equal(record->rank_mean, 1.5, 1e-12);
			assert_true(i < 2);
		} else {
			assert_float_equal(record->score, 0, 1e-12);
			assert_true(i >= 2);
		}
	}
	assert_int_equal(atomicity, 4);
	/* A search for patterns that only failing runs show would miss it: each pattern is in a
	 * passing run, too. */
	pattern_ranking_sort(&ranking, SUSPICION_AVIO);
	assert_float_equal(ranking.records[0].score, 0, 1e-12);
	pattern_ranking_release(&ranking);
	free(machine.state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_example__the_two_patterns_rank_first),
	};

	return cmocka_run_group_tests_name("example", tests, NULL, NULL);
}
