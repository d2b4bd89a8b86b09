#include "strategies/directed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strategies/strategy.h"
#include "support/simulated_program.h"

#define MUCH                                                                                       \
	LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9), LOCK(9), UNLOCK(9), LOCK(9),   \
		UNLOCK(9)

static const struct simulated_op one[] = {MUCH, LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), MUCH};
static const struct simulated_op other[] = {MUCH, LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1), MUCH};
static const struct simulated_code codes[] = {CODE(one), CODE(other)};
static const struct simulated_program deadlock = {
	.codes = codes, .code_count = 2, .initial_count = 2};

/* The same with a gate: the meeting can never come about. */
static const struct simulated_op gated_one[] = {
	LOCK(5), LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0), UNLOCK(5)};
static const struct simulated_op gated_other[] = {
	LOCK(5), LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1), UNLOCK(5)};
static const struct simulated_code gated_codes[] = {CODE(gated_one), CODE(gated_other)};
static const struct simulated_program gated = {
	.codes = gated_codes, .code_count = 2, .initial_count = 2};

static void begin(struct simulated_campaign *campaign, const struct simulated_program *program)
{
	const object_name first = simulated_object_name(SIMULATED_LOCK, 0);
	const object_name second = simulated_object_name(SIMULATED_LOCK, 1);
	const struct directed_place places[2] = {
		{.object = second, .held = first}, {.object = first, .held = second}};

	simulated_campaign_init(campaign, program, &strategy_directed, 0, 1);
	directed_state_init(campaign->state, places, 2);
}

static void directed__makes_a_predicted_deadlock_happen(void **unused)
{
	struct simulated_campaign campaign;
	const struct directed_state *state;

	(void)unused;
	begin(&campaign, &deadlock);
	state = campaign.state;
	/* Whoever comes first stops in front of its inner lock; the other runs into it. */
	assert_int_equal(simulated_campaign_count(&campaign, 200, OUTCOME_DEADLOCK), 200);
	assert_int_equal(state->runs, 200);
	assert_int_equal(state->thrashes, 0);
	assert_int_equal(state->arrivals[0] + state->arrivals[1], 200);
	simulated_campaign_release(&campaign);
}

static void directed__lets_threads_on_where_nobody_else_can_move(void **unused)
{
	struct simulated_campaign campaign;
	const struct directed_state *state;

	(void)unused;
	begin(&campaign, &gated);
	state = campaign.state;
	assert_int_equal(simulated_campaign_count(&campaign, 200, OUTCOME_PASSED), 200);
	assert_int_equal(state->meetings, 0);
	assert_int_equal(state->arrivals[0], 200);
	assert_true(state->thrashes >= 200);
	simulated_campaign_release(&campaign);
}

static void directed__is_a_random_walk_without_places(void **unused)
{
	struct simulated_campaign campaign;
	uint64_t found;

	(void)unused;
	simulated_campaign_init(&campaign, &deadlock, &strategy_directed, 0, 1);
	found = simulated_campaign_count(&campaign, 300, OUTCOME_DEADLOCK);
	assert_in_range(found, 1, 150);
	simulated_campaign_release(&campaign);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(directed__makes_a_predicted_deadlock_happen),
		cmocka_unit_test(directed__lets_threads_on_where_nobody_else_can_move),
		cmocka_unit_test(directed__is_a_random_walk_without_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
