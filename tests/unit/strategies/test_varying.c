/* Strategies that go through all runs notice a program that is not a function of its schedule, and claim nothing then. */
#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/simulated_program.h"

#define RUNS_MOST 50000

static const struct simulated_op usual[] = {ADD(0, 1), READ(3), ADD(0, 1)};
static const struct simulated_op elsewhere[] = {ADD(1, 1), READ(3), ADD(1, 1)};
static const struct simulated_op partly[] = {ADD(0, 1), READ(3), ADD(1, 1)};
static const struct simulated_op more[] = {ADD(0, 1), ADD(1, 1), READ(3), ADD(0, 1)};
static const struct simulated_op fewer[] = {ADD(0, 1), ADD(0, 1)};
static const struct simulated_op locked[] = {LOCK(0), ADD(0, 1), UNLOCK(0), READ(3), ADD(0, 1)};

static const struct simulated_code usual_codes[] = {CODE(usual), CODE(usual)};
static const struct simulated_code other_codes[][2] = {
	{CODE(elsewhere), CODE(elsewhere)},
	{CODE(partly), CODE(partly)},
	{CODE(usual), CODE(partly)},
	{CODE(more), CODE(more)},
	{CODE(fewer), CODE(usual)},
	{CODE(locked), CODE(locked)},
};
#define OTHERS (sizeof other_codes / sizeof *other_codes)

/* Whether a run is of the other program. */
static bool is_each_second(uint64_t run)
{
	return run % 2 == 1;
}
static bool is_each_third(uint64_t run)
{
	return run % 3 == 2;
}
static bool is_one_of_four(uint64_t run)
{
	return run / 2 % 2 == 1;
}
static bool is_never(uint64_t run)
{
	return run == UINT64_MAX;
}

/* Returns false if none, or all, of the runs that count were of the other program. */
static bool make(const struct strategy *strategy, const struct simulated_code *other,
	bool (*is_other)(uint64_t run), struct strategy_verdict *verdict)
{
	const struct simulated_program usually = {
		.codes = usual_codes, .code_count = 2, .initial_count = 2};
	const struct simulated_program otherwise = {
		.codes = other, .code_count = 2, .initial_count = 2};
	struct simulated_campaign campaign;
	uint64_t run = 0, others = 0;

	simulated_campaign_init(&campaign, &usually, strategy, 0, 1);
	if (strategy == &strategy_bounded) { /* c, v and t */
		campaign.config.option[0] = campaign.config.option[1] = 1;
		campaign.config.option[2] = 2;
		strategy_begin_campaign(strategy, campaign.state, &campaign.config);
	}
	for (; run < RUNS_MOST && !strategy->search.is_exhausted(campaign.state); run++) {
		campaign.run.program = is_other(run) ? &otherwise : &usually;
		others += is_other(run);
		(void)simulated_campaign_run(&campaign);
	}
	memset(verdict, 0, sizeof *verdict);
	strategy->search.verdict(campaign.state, verdict);
	simulated_campaign_release(&campaign);
	return others && others < verdict->runs;
}

static void expect_nothing_claimed(const struct strategy *strategy)
{
	static bool (*const varies[])(uint64_t run) = {
		is_each_second, is_each_third, is_one_of_four};
	struct strategy_verdict verdict;

	(void)make(strategy, other_codes[0], is_never, &verdict);
	assert_true(verdict.is_complete); /* the control */
	assert_null(verdict.missing);
	for (uint32_t other = 0; other < OTHERS; other++) {
		for (uint32_t i = 0; i < sizeof varies / sizeof *varies; i++) {
			if (!make(strategy, other_codes[other], varies[i], &verdict))
				continue;
			if (verdict.is_complete || verdict.scope[0])
				fail_msg("%s claims '%s' in case %u of program %u", strategy->name,
					verdict.scope, i, other);
			assert_string_equal(verdict.missing, STRATEGY_PROGRAM_VARIES);
		}
	}
}

static void icb__claims_nothing(void **state)
{
	(void)state;
	expect_nothing_claimed(&strategy_icb);
}

static void vt__claims_nothing(void **state)
{
	(void)state;
	expect_nothing_claimed(&strategy_vt);
}

static void bounded__claims_nothing(void **state)
{
	(void)state;
	expect_nothing_claimed(&strategy_bounded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(icb__claims_nothing),
		cmocka_unit_test(vt__claims_nothing),
		cmocka_unit_test(bounded__claims_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
