/*
 * The cost of a choice must not grow with the length of the run. Costs are counted, not timed: the
 * strategies are compiled with a call of the counter below in each basic block.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "strategies/replay/replay.h"
#include "support/simulated_program.h"
#include "support/strategy_state.h"

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
	blocks++;
}

#define STEPS_PER_ROUND 4
static const struct simulated_op shared[] = {ADD(0, 1), READ(1), LOCK(0), UNLOCK(0)};
#define PROGRAM_OF(rounds)                                                                         \
	{                                                                                          \
		CODE_REPEATED(shared, rounds), CODE_REPEATED(shared, rounds),                      \
			CODE_REPEATED(shared, rounds)                                              \
	}
#define SHORT_ROUNDS 100
#define LONG_ROUNDS 10000
static const struct simulated_code short_codes[] = PROGRAM_OF(SHORT_ROUNDS);
static const struct simulated_code long_codes[] = PROGRAM_OF(LONG_ROUNDS);
static const struct simulated_program short_program = {
	.codes = short_codes, .code_count = 3, .initial_count = 3};
static const struct simulated_program long_program = {
	.codes = long_codes, .code_count = 3, .initial_count = 3};

/* Basic blocks per step, in runs after the first. */
static double work_per_step(struct simulated_campaign *campaign)
{
	const uint64_t before = blocks;
	uint64_t steps = 0;

	for (int run = 0; run < 3; run++) {
		assert_int_equal(simulated_campaign_run(campaign), OUTCOME_PASSED);
		steps += campaign->run.step_count;
	}
	return (double)(blocks - before) / (double)steps;
}

static double measure(const struct simulated_program *program, const struct strategy *strategy)
{
	struct simulated_campaign campaign;
	double work;

	simulated_campaign_init(&campaign, program, strategy, 0, 1);
	(void)simulated_campaign_run(&campaign); /* learns; not counted */
	work = work_per_step(&campaign);
	simulated_campaign_release(&campaign);
	return work;
}

static void strategies__cost_no_more_in_long_runs(void **unused)
{
	(void)unused;
	for (uint32_t i = 0; i < strategy_count; i++) {
		const double in_short = measure(&short_program, strategies[i]);
		const double in_long = measure(&long_program, strategies[i]);

		assert_true(in_short > 0.5); /* the counter counts */
		assert_true(in_long < in_short * 1.2);
	}
}

/* Work per step of following a run of `rounds` from its schedule, or of recording its falls. */
static double follow(const struct simulated_program *program, uint32_t rounds, bool exact)
{
	const uint32_t steps = rounds * STEPS_PER_ROUND * 3;
	const uint32_t fall_count = exact ? 0 : steps;
	struct schedule *schedule =
		calloc(1, sizeof *schedule + steps * sizeof *schedule->segments);
	struct simulated_campaign campaign;
	struct replay_fall *falls = calloc(steps, sizeof *falls);
	double work;

	assert_non_null(schedule);
	assert_non_null(falls);
	schedule->capacity = steps;
	simulated_campaign_init(&campaign, program, &strategy_random, 0, 1);
	campaign.run.recording = schedule;
	(void)simulated_campaign_run(&campaign); /* records */
	simulated_campaign_release(&campaign);
	simulated_campaign_init(&campaign, program, &strategy_replay, 0, 1);
	strategy_state_free(campaign.state, campaign.state_bytes);
	campaign.state_bytes = replay_state_bytes(schedule->count, fall_count);
	campaign.state = strategy_state_new(campaign.state_bytes);
	replay_state_init(campaign.state, exact ? REPLAY_EXACT : REPLAY_RECORD, schedule->segments,
		schedule->count, falls, fall_count);
	work = work_per_step(&campaign);
	assert_int_equal(((struct replay_state *)campaign.state)->diverged, 0);
	simulated_campaign_release(&campaign);
	free(falls);
	free(schedule);
	return work;
}

static void replay__costs_no_more_for_long_schedules(void **unused)
{
	(void)unused;
	for (int exact = 0; exact < 2; exact++) {
		const double in_short = follow(&short_program, SHORT_ROUNDS, exact);
		const double in_long = follow(&long_program, LONG_ROUNDS, exact);

		assert_true(in_short > 0.5);
		assert_true(in_long < in_short * 1.2);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strategies__cost_no_more_in_long_runs),
		cmocka_unit_test(replay__costs_no_more_for_long_schedules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
