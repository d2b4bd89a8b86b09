#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explore/schemes/rounds_internal.h"
#include "plan/strategy_option.h"

#define WORKERS 2

struct fixture {
	struct campaign_options options;
	struct campaign campaign;
	struct campaign_worker workers[WORKERS];
	struct contract contracts[WORKERS];
	struct rounds rounds;
	struct error err;
};

/* The round of runs 64 to 127. */
static int set_up(void **state)
{
	struct fixture *fixture = calloc(1, sizeof *fixture);

	assert_non_null(fixture);
	assert_int_equal(strategy_parse("random", &fixture->options.strategy,
				 &fixture->options.strategy_config, &fixture->err),
		0);
	fixture->campaign.options = &fixture->options;
	fixture->campaign.rounds = &fixture->rounds;
	fixture->campaign.workers = fixture->workers;
	fixture->campaign.worker_count = WORKERS;
	fixture->campaign.restart = RESTART_EXEC;
	fixture->campaign.program.settings.memory_mode = MEMORY_RACY_SITES;
	fixture->rounds.first = fixture->rounds.before = fixture->rounds.runs = 64;
	fixture->rounds.hold = ROUNDS_NO_HOLD;
	for (uint32_t i = 0; i < WORKERS; i++) {
		fixture->workers[i].worker.contract = &fixture->contracts[i];
		fixture->workers[i].batch = 4;
	}
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

/* Makes the worker's next batch, and returns its number of runs. */
static uint64_t make_batch(struct fixture *fixture, uint32_t number, uint64_t *first)
{
	struct campaign_worker *worker = &fixture->workers[number];

	if (rounds_next_batch(&fixture->campaign, worker, &fixture->err) == 0)
		return 0;
	*first = worker->run_first;
	for (; worker->run_first < worker->run_end; worker->run_first++) {
		uint8_t *is_made = &fixture->rounds.is_made[worker->run_first - 64];

		assert_int_equal(*is_made, 0);
		*is_made = 1;
	}
	return worker->run_end - *first;
}

static void assert_batch(struct fixture *fixture, uint32_t number, uint64_t first, uint64_t runs)
{
	uint64_t at = 0;

	assert_int_equal(make_batch(fixture, number, &at), runs);
	assert_int_equal(at, first);
}

static void make_rest(struct fixture *fixture)
{
	uint64_t at;

	while (make_batch(fixture, 0, &at) + make_batch(fixture, 1, &at))
		;
	for (uint32_t i = 0; i < fixture->rounds.runs; i++)
		assert_int_equal(fixture->rounds.is_made[i], 1);
}

static void test_rounds_assign__begins_with_watched_long_runs_in_the_last_worker(void **state)
{
	struct fixture *fixture = *state;

	assert_batch(fixture, 0, 64, 4);
	assert_batch(fixture, 1, 75, 1);
	assert_batch(fixture, 0, 68, 4);
	assert_batch(fixture, 0, 72, 3); /* up to the run that is assigned */
	assert_batch(fixture, 0, 76, 4);
	assert_batch(fixture, 1, 90, 1);
	assert_batch(fixture, 1, 105, 1);
	assert_batch(fixture, 1, 124, 1);
	assert_batch(fixture, 1, 80, 4);
	make_rest(fixture);
}

static void test_rounds_assign__leaves_watched_runs_to_a_worker_that_reaches_them(void **state)
{
	struct fixture *fixture = *state;

	for (uint64_t first = 64; first < 88; first += 4)
		assert_batch(fixture, 0, first, 4);
	assert_batch(fixture, 1, 90, 1);
	make_rest(fixture);
}

static void test_rounds_assign__begins_no_watched_run_after_a_failure(void **state)
{
	struct fixture *fixture = *state;

	fixture->rounds.hold = 80 - 64;
	assert_batch(fixture, 1, 75, 1);
	assert_batch(fixture, 1, 64, 4);
	fixture->rounds.hold = ROUNDS_NO_HOLD;
	make_rest(fixture);
}

/* Watched runs that are short are not worth it. */
static void test_rounds_assign__assigns_short_runs_in_order(void **state)
{
	struct fixture *fixture = *state;

	fixture->campaign.program.settings.memory_mode = MEMORY_LEARN;
	for (uint64_t first = 64; first < 112; first += 4)
		assert_batch(fixture, first / 4 % 2, first, 4);
	make_rest(fixture);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_rounds_assign__begins_with_watched_long_runs_in_the_last_worker),
		TEST(test_rounds_assign__leaves_watched_runs_to_a_worker_that_reaches_them),
		TEST(test_rounds_assign__begins_no_watched_run_after_a_failure),
		TEST(test_rounds_assign__assigns_short_runs_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
