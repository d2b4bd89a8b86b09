/* bounded finds what lies within its bounds, says when nothing is left, and finds nothing beyond. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "support/every_schedule.h"
#include "support/simulated_program.h"

/* Options in the order of bounded's table; 0: as they stand. */
struct bounds {
	int64_t preemptions, variables, threads;
};

/* Runs until a failure or the end; true: it failed. */
static bool search(const struct simulated_program *program, const struct bounds *bounds,
	struct strategy_verdict *verdict)
{
	struct simulated_campaign campaign;
	bool has_failed = false;

	simulated_campaign_init(&campaign, program, &strategy_bounded, 0, 1);
	campaign.config.option[0] = bounds->preemptions;
	campaign.config.option[1] = bounds->variables;
	campaign.config.option[2] = bounds->threads;
	campaign.config.option[4] = 16384; /* runs: less memory to be cleared for each */
	free(campaign.state);
	campaign.state_bytes = strategy_bounded.state_bytes(&campaign.config);
	campaign.state = calloc(1, campaign.state_bytes);
	assert_non_null(campaign.state);
	strategy_bounded.begin_campaign(campaign.state, &campaign.config);
	while (!has_failed && !strategy_bounded.is_exhausted(campaign.state))
		has_failed = simulated_campaign_run(&campaign) == OUTCOME_ABORT;
	strategy_bounded.verdict(campaign.state, verdict);
	simulated_campaign_release(&campaign);
	return has_failed;
}

/* Between two reads of a variable somebody writes it: one preemption, one variable, two threads. */
static const struct simulated_op victim[] = {READ(0), ADVANCE(0, 1)};
static const struct simulated_op reader_twice[] = {ADVANCE(0, 0), ADVANCE(0, 2), REFUSE(0, 3)};
static const struct simulated_op between[] = {ADVANCE(0, 1)};
static const struct simulated_code atomicity_codes[] = {CODE(reader_twice), CODE(between)};
static const struct simulated_program atomicity = {
	.codes = atomicity_codes, .code_count = 2, .initial_count = 2};

static const struct simulated_op both_b[] = {ADVANCE(1, 0), ADD(2, 1)};

static void bounded__finds_what_is_within_its_bounds(void **state)
{
	struct strategy_verdict verdict;

	(void)state;
	assert_true(search(&atomicity, &(struct bounds){1, 1, 2}, &verdict));
	assert_true(search(&atomicity, &(struct bounds){2, 0, 0}, &verdict));
}

static void bounded__finds_nothing_beyond_them_and_says_so(void **state)
{
	struct strategy_verdict verdict;

	(void)state;
	assert_false(search(&atomicity, &(struct bounds){0, 1, 2}, &verdict));
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "with c ≤ 0, v ≤ 1, t ≤ 2");
	assert_true(verdict.missed > 0.9e-6 && verdict.missed < 1.1e-6);
}

static void bounded__ends_where_no_variable_is_shared(void **state)
{
	static const struct simulated_code codes[] = {CODE(both_b), CODE(victim)};
	static const struct simulated_program apart = {
		.codes = codes, .code_count = 2, .initial_count = 2};
	struct strategy_verdict verdict;

	(void)state;
	assert_false(search(&apart, &(struct bounds){2, 0, 0}, &verdict));
	assert_true(verdict.is_complete);
	assert_string_equal(verdict.scope, "");
}

static void bounded__repeats_nothing_when_it_widens_v(void **state)
{
	static const struct simulated_op first[] = {ADD(0, 1), ADD(1, 1), ADD(0, 1), ADD(1, 1)};
	static const struct simulated_code codes[] = {CODE(first), CODE(first), CODE(first)};
	static const struct simulated_program program = {
		.codes = codes, .code_count = 3, .initial_count = 3};
	struct strategy_verdict one, both, walk;

	(void)state;
	assert_false(search(&program, &(struct bounds){2, 1, 2}, &one));
	assert_false(search(&program, &(struct bounds){2, 2, 2}, &both));
	assert_false(search(&program, &(struct bounds){2, 0, 2}, &walk));
	assert_true(one.runs < both.runs);
	assert_int_equal(walk.runs, both.runs);
	assert_string_equal(walk.scope, both.scope);
}

/* ---- random programs: what fails with at most two preemptions is found ---- */

struct random_program {
	struct simulated_op ops[3][8];
	struct simulated_code codes[3];
	struct simulated_program program;
};

static void make_random(struct random_program *program, struct rng *rng)
{
	*program = (struct random_program){0};
	for (uint32_t thread = 0; thread < 3; thread++) {
		const uint32_t count = 1 + rng_below(rng, 3);

		program->codes[thread].ops = program->ops[thread];
		program->codes[thread].op_count = count;
		program->codes[thread].repeat = 1;
		for (uint32_t i = 0; i < count; i++)
			program->ops[thread][i] = (struct simulated_op){
				rng_below(rng, 5) ? SIMULATED_ADVANCE : SIMULATED_REFUSE,
				(uint16_t)rng_below(rng, 2), (int32_t)rng_below(rng, 4)};
	}
	program->program = (struct simulated_program){
		.codes = program->codes, .code_count = 3, .initial_count = 3};
}

/* The fewest preemptions of a schedule that fails; UINT32_MAX: none does. */
static uint32_t fewest_preemptions(const struct simulated_program *program)
{
	struct simulated_campaign campaign;
	uint32_t fewest = UINT32_MAX;

	simulated_campaign_init(&campaign, program, &every_schedule, 0, 1);
	while (!every_is_exhausted(campaign.state))
		if (simulated_campaign_run(&campaign) == OUTCOME_ABORT &&
			campaign.run.preemption_count < fewest)
			fewest = (uint32_t)campaign.run.preemption_count;
	simulated_campaign_release(&campaign);
	return fewest;
}

static void bounded__misses_no_failure_of_few_preemptions(void **state)
{
	struct random_program program;
	struct strategy_verdict verdict;
	struct rng rng;
	uint32_t preempted = 0, sound = 0;

	(void)state;
	rng_seed(&rng, 5);
	for (int round = 0; round < 600; round++) {
		uint32_t fewest;

		make_random(&program, &rng);
		fewest = fewest_preemptions(&program.program);
		if (fewest > 2 && fewest != UINT32_MAX)
			continue;
		/* Of three threads with two stops five fragments: t = 5 leaves none out. */
		assert_int_equal(
			search(&program.program, &(struct bounds){2, 2, 5}, &verdict) ||
				search(&program.program, &(struct bounds){2, 1, 5}, &verdict),
			fewest != UINT32_MAX);
		preempted += fewest != UINT32_MAX && fewest;
		sound += fewest == UINT32_MAX;
	}
	assert_true(preempted >= 3); /* or this shows nothing */
	assert_true(sound > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounded__finds_what_is_within_its_bounds),
		cmocka_unit_test(bounded__finds_nothing_beyond_them_and_says_so),
		cmocka_unit_test(bounded__ends_where_no_variable_is_shared),
		cmocka_unit_test(bounded__repeats_nothing_when_it_widens_v),
		cmocka_unit_test(bounded__misses_no_failure_of_few_preemptions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
