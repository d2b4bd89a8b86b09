/* A campaign of 10^8 runs keeps constant memory: no strategy keeps anything of a run but counts and bounded tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/simulated_program.h"

#define RUNS_FEW 20000u
#ifdef __SANITIZE_ADDRESS__
#define RUNS_MANY 50000u /* each takes twenty times as long */
#else
#define RUNS_MANY 1000000u
#endif
/* Runs of each strategy, in a campaign with wrong results: eight megabytes in all. */
#define KEPT_WORDS (1000000u / RUNS_MANY)
/* Tables fill, the largest of which (orders that the portfolio has seen) has two megabytes. */
#define GROWTH_MOST_BYTES ((size_t)3 << 20)

static const struct simulated_op adder[] = {ADD(0, 1), LOCK(0), UNLOCK(0)};
static const struct simulated_op reader[] = {READ(0), ADD(1, 1)};
static const struct simulated_code codes[] = {CODE(adder), CODE(reader), CODE(reader)};
static const struct simulated_program program = {
	.codes = codes, .code_count = 3, .initial_count = 3};

static size_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long all = 0, resident = 0;

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu %lu", &all, &resident), 2);
	assert_int_equal(fclose(file), 0);
	return resident * (size_t)sysconf(_SC_PAGESIZE);
}

/* Those that go through all schedules keep what is left to do; the others follow another
 * component's instructions. */
static bool is_endless(const struct strategy *strategy)
{
	return !strategy->search.is_exhausted && strcmp(strategy->name, "directed") != 0 &&
	       strcmp(strategy->name, "replay") != 0;
}

static size_t growth(const struct strategy *strategy, bool keeps_all)
{
	uint64_t *kept = calloc((size_t)RUNS_MANY * KEPT_WORDS, sizeof *kept);
	struct simulated_campaign campaign;
	size_t few, many;

	assert_non_null(kept);
	simulated_campaign_init(&campaign, &program, strategy, 0, 1);
	(void)simulated_campaign_count(&campaign, RUNS_FEW, OUTCOME_PASSED);
	few = resident_bytes();
	for (uint32_t i = RUNS_FEW; i < RUNS_MANY; i++) {
		assert_int_equal(simulated_campaign_run(&campaign), OUTCOME_PASSED);
		if (keeps_all)
			kept[i * KEPT_WORDS] = campaign.run.order_hash;
	}
	many = resident_bytes();
	simulated_campaign_release(&campaign);
	assert_true(!keeps_all || kept[(RUNS_MANY - 1) * KEPT_WORDS]);
	free(kept);
	return many > few ? many - few : 0;
}

static void test_long_campaign__keeps_nothing_of_a_run(void **unused)
{
	uint32_t strategies_seen = 0;

	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		if (!is_endless(strategies[i]))
			continue;
		assert_in_range(growth(strategies[i], false), 0, GROWTH_MOST_BYTES);
		strategies_seen++;
	}
	assert_in_range(strategies_seen, 7, strategy_count);
}

static void test_long_campaign__would_notice(void **unused)
{
	(void)unused;
	assert_true(growth(&strategy_random, true) > GROWTH_MOST_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_long_campaign__would_notice),
		cmocka_unit_test(test_long_campaign__keeps_nothing_of_a_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
