/* Scenarios that strategy `directed` makes happen, on simulated programs. */
#include "strategies/directed/directed_scenario.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "strategies/directed/directed.h"
#include "strategies/strategy.h"
#include "support/simulated_program.h"

#define RUNS 200
/* Steps that keep threads apart: chance would have to wait for all of them. */
#define SOME LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9)
#define FAR SOME, SOME, SOME, SOME

#define PROGRAM(name, one, other)                                                                  \
	static const struct simulated_code name##_codes[] = {CODE(one), CODE(other)};              \
	static const struct simulated_program name = {                                             \
		.codes = name##_codes, .code_count = 2, .initial_count = 2}

static struct directed_op op_at(const struct simulated_op *op, const struct simulated_op *gate,
	enum op_kind kind, uint8_t party, uint8_t variable)
{
	return (struct directed_op){.site = (uint64_t)(uintptr_t)op,
		.gate_site = (uint64_t)(uintptr_t)gate,
		.kind = (uint8_t)kind,
		.party = party,
		.variable = variable};
}

struct counted {
	uint64_t failed;
	uint64_t completions;
};

/* How many of RUNS fail; `ops` NULL: left to chance. */
static struct counted count(
	const struct simulated_program *program, const struct directed_op *ops, uint32_t op_count)
{
	struct simulated_campaign campaign;
	struct counted counted;

	simulated_campaign_init(&campaign, program, &strategy_directed, 0, 1);
	if (ops)
		directed_state_set_scenario(campaign.state, ops, op_count);
	counted.failed = simulated_campaign_count(&campaign, RUNS, OUTCOME_ABORT);
	counted.completions = ((struct directed_state *)campaign.state)->scenario.completions;
	simulated_campaign_release(&campaign);
	return counted;
}

/* ---- the account: both balances are read, each with the lock; a transfer writes both ---- */

static const struct simulated_op copier[] = {
	LOCK(0), READ(0), UNLOCK(0), SOME, LOCK(0), EXPECT(1, 0), UNLOCK(0)};
static const struct simulated_op transferrer[] = {FAR, LOCK(0), SET(0, 1), SET(1, 1), UNLOCK(0)};
PROGRAM(account, copier, transferrer);

static void test_scenario__stops_before_locks_and_not_behind_them(void **state)
{
	const size_t transfer = sizeof transferrer / sizeof *transferrer - 4;
	const size_t second = sizeof copier / sizeof *copier - 3;
	const struct directed_op ops[] = {
		op_at(&copier[1], &copier[0], OP_LOAD, 0, 0),
		op_at(&transferrer[transfer + 1], &transferrer[transfer], OP_STORE, 1, 0),
		op_at(&transferrer[transfer + 2], NULL, OP_STORE, 1, 1),
		op_at(&copier[second + 1], &copier[second], OP_LOAD, 0, 1),
	};
	const struct counted directed = count(&account, ops, 4);

	(void)state;
	/* Nothing is left to chance: one such order exists, whatever other ops lie between. */
	assert_int_equal(directed.failed, RUNS);
	assert_int_equal(directed.completions, RUNS);
	/* In a random run, 34 steps of one thread precede the thirteenth of the other with P(B(46,
	 * 1/2) >= 34) = 0.0008. Ten such runs in 200 have a probability below 1e-12. */
	assert_true(count(&account, NULL, 0).failed < 10);
}

/* ---- the writer waits for the reader although it reaches its access first ---- */

static const struct simulated_op late_reader[] = {FAR, READ(0), EXPECT(0, 0)};
static const struct simulated_op early_writer[] = {SET(1, 1), SET(0, 1)};
PROGRAM(late, late_reader, early_writer);

static void test_scenario__holds_the_second_until_the_first_has_been(void **state)
{
	const size_t read = sizeof late_reader / sizeof *late_reader - 2;
	const struct directed_op ops[] = {
		op_at(&late_reader[read], NULL, OP_LOAD, 0, 0),
		op_at(&early_writer[1], NULL, OP_STORE, 1, 0),
		op_at(&late_reader[read + 1], NULL, OP_LOAD, 0, 0),
	};

	(void)state;
	assert_int_equal(count(&late, ops, 3).completions, RUNS);
}

/* ---- an order that locks forbid: no thread waits for ever ---- */

static const struct simulated_op keeper[] = {LOCK(0), READ(0), EXPECT(0, 0), UNLOCK(0)};
static const struct simulated_op changer[] = {LOCK(0), SET(0, 1), SET(0, 0), UNLOCK(0)};
PROGRAM(kept, keeper, changer);

static void test_scenario__gives_up_what_cannot_be(void **state)
{
	const struct directed_op ops[] = {
		op_at(&keeper[1], NULL, OP_LOAD, 0, 0),
		op_at(&changer[1], NULL, OP_STORE, 1, 0),
		op_at(&keeper[2], NULL, OP_LOAD, 0, 0),
	};
	const struct counted counted = count(&kept, ops, 3);

	(void)state;
	assert_int_equal(counted.completions, 0);
	assert_int_equal(counted.failed, 0);
}

/* ---- a thread works until the waiting one ends it ---- */

static const struct simulated_op ender[] = {SET(0, 1), SET(1, 1)};
static const struct simulated_op worker[] = {SOME, SOME, SOME, SOME};
static const struct simulated_code busy_codes[] = {CODE(ender), CODE_REPEATED(worker, 1000)};
static const struct simulated_program busy = {
	.codes = busy_codes, .code_count = 2, .initial_count = 2};

static void test_scenario__has_no_endless_patience(void **state)
{
	static const struct simulated_op elsewhere[] = {SET(0, 0)};
	/* The first op never happens: the second is let on when the other has worked long enough. */
	const struct directed_op ops[] = {
		op_at(&elsewhere[0], NULL, OP_STORE, 1, 0),
		op_at(&ender[0], NULL, OP_STORE, 0, 0),
		op_at(&elsewhere[0], NULL, OP_STORE, 1, 0),
	};
	struct simulated_campaign campaign;
	struct directed_state *directed;

	(void)state;
	simulated_campaign_init(&campaign, &busy, &strategy_directed, 0, 1);
	directed = campaign.state;
	directed_state_set_scenario(directed, ops, 3);
	assert_int_equal(simulated_campaign_count(&campaign, 1, OUTCOME_PASSED), 1);
	assert_int_equal(
		/* no thread was released for lack of other enabled threads */
		directed->thrashes, 0);
	assert_int_equal(directed->scenario.completions, 0);
	simulated_campaign_release(&campaign);
}

/* ---- each unit is between the accesses of the other ---- */

static const struct simulated_op first_writer[] = {SET(0, 1), FAR, SET(1, 1)};
static const struct simulated_op second_writer[] = {SET(1, 2), SET(0, 2)};
PROGRAM(crossed, first_writer, second_writer);

static void test_scenario__crosses(void **state)
{
	const size_t last = sizeof first_writer / sizeof *first_writer - 1;
	const struct directed_op ops[] = {
		op_at(&first_writer[0], NULL, OP_STORE, 0, 0),
		op_at(&second_writer[0], NULL, OP_STORE, 1, 1),
		op_at(&first_writer[last], NULL, OP_STORE, 0, 1),
		op_at(&second_writer[1], NULL, OP_STORE, 1, 0),
	};

	(void)state;
	assert_int_equal(count(&crossed, ops, 4).completions, RUNS);
}

/* ---- a loop reaches the first op again and again ---- */

static const struct simulated_op looker[] = {READ(0)};
static const struct simulated_op setter[] = {FAR, SET(0, 1)};
static const struct simulated_code loop_codes[] = {CODE_REPEATED(looker, 10), CODE(setter)};
static const struct simulated_program loop = {
	.codes = loop_codes, .code_count = 2, .initial_count = 2};

/* Counts the RUNS in which the scenario begins at the seventh visit. */
static unsigned count_from_seventh(struct directed_start recorded, struct directed_start proven)
{
	const size_t last = sizeof setter / sizeof *setter - 1;
	const struct directed_op ops[] = {
		op_at(&looker[0], NULL, OP_LOAD, 0, 0),
		op_at(&setter[last], NULL, OP_STORE, 1, 0),
		op_at(&looker[0], NULL, OP_LOAD, 0, 0),
	};
	struct simulated_campaign campaign;
	struct directed_scenario *scenario;
	unsigned from_seventh = 0;

	simulated_campaign_init(&campaign, &loop, &strategy_directed, 0, 1);
	directed_state_set_scenario(campaign.state, ops, 3);
	scenario = &((struct directed_state *)campaign.state)->scenario;
	scenario->recorded = recorded;
	scenario->proven = proven;
	scenario->has_failed = true;
	scenario->trust = 1;
	for (unsigned i = 0; i < RUNS; i++) {
		assert_int_equal(simulated_campaign_count(&campaign, 1, OUTCOME_PASSED), 1);
		from_seventh += scenario->completed_from.ordinal == 7;
	}
	simulated_campaign_release(&campaign);
	return from_seventh;
}

static void test_scenario__begins_where_it_was_recorded(void **state)
{
	const struct directed_start seventh = {.thread = 0, .ordinal = 7}, nowhere = {0};

	(void)state;
	/* Every second run: P(B(200, 1/2) < 60) is below 1e-8. */
	assert_true(count_from_seventh(seventh, nowhere) >= 60);
	/* Fifteen of sixteen: P(B(200, 15/16) < 160) is below 1e-9. */
	assert_true(count_from_seventh(nowhere, seventh) >= 160);
	/* One in 128: P(B(200, 1/64) > 20) is below 1e-9. */
	assert_true(count_from_seventh(nowhere, nowhere) <= 20);
}

/* ---- another thread changes the values that the parties read ---- */

static const struct simulated_op finder[] = {FAR, READ(0), EXPECT(2, 0), READ(0)};
static const struct simulated_op filler[] = {SET(0, 1)};
static const struct simulated_op meddler[] = {SET(2, 1)};
static const struct simulated_code meddled_codes[] = {CODE(finder), CODE(filler), CODE(meddler)};
static const struct simulated_program meddled = {
	.codes = meddled_codes, .code_count = 3, .initial_count = 3};

static uint64_t count_meddled(bool is_alone)
{
	const size_t read = sizeof finder / sizeof *finder - 3;
	const struct directed_op ops[] = {
		op_at(&finder[read], NULL, OP_LOAD, 0, 0),
		op_at(&filler[0], NULL, OP_STORE, 1, 0),
		op_at(&finder[read + 2], NULL, OP_LOAD, 0, 0),
	};
	struct simulated_campaign campaign;
	struct directed_scenario *scenario;
	uint64_t failed;

	simulated_campaign_init(&campaign, &meddled, &strategy_directed, 0, 1);
	directed_state_set_scenario(campaign.state, ops, 3);
	scenario = &((struct directed_state *)campaign.state)->scenario;
	scenario->proven = (struct directed_start){
		.ordinal = 1, .thread = 0, .other = 1, .is_alone = is_alone};
	scenario->has_failed = true;
	scenario->trust = 1;
	failed = simulated_campaign_count(&campaign, RUNS, OUTCOME_ABORT);
	simulated_campaign_release(&campaign);
	return failed;
}

static void test_scenario__is_left_to_its_parties(void **state)
{
	(void)state;
	/* One run of sixteen is not: P(B(200, 1/16) > 40) is below 1e-9. */
	assert_true(count_meddled(true) <= 40);
	/* The meddler has one step, the finder 33 before its read: P(it is first) is above 0.96. */
	assert_true(count_meddled(false) >= 150);
}

/* ---- choices that are kept ---- */

static void test_scenario__keeps_to_what_works(void **state)
{
	const struct directed_start harmless = {.ordinal = 2}, failing = {.ordinal = 5};
	struct directed_scenario scenario = {.completed_from = harmless};

	(void)state;
	directed_scenario_learn(&scenario, false, true);
	assert_int_equal(scenario.proven.ordinal, 0);
	directed_scenario_learn(&scenario, true, false);
	assert_int_equal(scenario.proven.ordinal, 2);
	/* A failure is better than none, and no other way replaces it. */
	scenario.completed_from = failing;
	directed_scenario_learn(&scenario, true, true);
	assert_int_equal(scenario.proven.ordinal, 5);
	scenario.completed_from = harmless;
	directed_scenario_learn(&scenario, true, false);
	assert_int_equal(scenario.proven.ordinal, 5);
	/* It works once more, so it takes two failures in a row to give it up. */
	scenario.tries_proven = true;
	directed_scenario_learn(&scenario, true, true);
	directed_scenario_learn(&scenario, false, false);
	assert_int_equal(scenario.proven.ordinal, 5);
	directed_scenario_learn(&scenario, false, false);
	assert_int_equal(scenario.proven.ordinal, 0);
	assert_false(scenario.has_failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenario__stops_before_locks_and_not_behind_them),
		cmocka_unit_test(test_scenario__holds_the_second_until_the_first_has_been),
		cmocka_unit_test(test_scenario__gives_up_what_cannot_be),
		cmocka_unit_test(test_scenario__has_no_endless_patience),
		cmocka_unit_test(test_scenario__crosses),
		cmocka_unit_test(test_scenario__begins_where_it_was_recorded),
		cmocka_unit_test(test_scenario__is_left_to_its_parties),
		cmocka_unit_test(test_scenario__keeps_to_what_works),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
