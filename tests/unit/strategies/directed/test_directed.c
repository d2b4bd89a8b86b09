#include "strategies/directed/directed.h"

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

/* The same with a gate: the rendezvous can never occur. */
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
	const struct directed_stop stops[2] = {
		{.object = second, .held = first}, {.object = first, .held = second}};

	simulated_campaign_init(campaign, program, &strategy_directed, 0, 1);
	directed_state_init(campaign->state, stops, 2);
}

static void directed__makes_a_predicted_deadlock_happen(void **unused)
{
	struct simulated_campaign campaign;
	const struct directed_state *state;

	(void)unused;
	begin(&campaign, &deadlock);
	state = campaign.state;
	/* The first thread stops in front of its inner lock; the other runs into it. */
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
	assert_int_equal(state->rendezvous, 0);
	assert_int_equal(state->arrivals[0], 200);
	assert_true(state->thrashes >= 200);
	simulated_campaign_release(&campaign);
}

/* A ring whose stops are identified by their code; the names are those of another run. */
static void begin_ring(struct simulated_campaign *campaign, const struct simulated_program *program,
	const struct directed_stop stops[2])
{
	simulated_campaign_init(campaign, program, &strategy_directed, 0, 1);
	directed_state_init(campaign->state, stops, 2);
	directed_state_set_ring(campaign->state);
}

#define SITE(op) ((uint64_t)(uintptr_t)(op))

static void directed__finds_a_ring_under_other_names(void **unused)
{
	const struct directed_stop stops[2] = {{.thread = 77,
						       .object = 78,
						       .held = 79,
						       .kind = OP_MUTEX_LOCK,
						       .site = SITE(&one[11])},
		{.thread = 87,
			.object = 88,
			.held = 89,
			.kind = OP_MUTEX_LOCK,
			.site = SITE(&other[11])}};
	struct simulated_campaign campaign;
	const struct directed_state *state;

	(void)unused;
	begin_ring(&campaign, &deadlock, stops);
	state = campaign.state;
	/* One width in three admits any thread and object; none of the others can meet. */
	assert_true(simulated_campaign_count(&campaign, 600, OUTCOME_DEADLOCK) >= 200);
	assert_int_equal(state->arrivals[0] + state->arrivals[1], 200);
	simulated_campaign_release(&campaign);
}

/* A thread that stops while it holds 0 blocks the thread that must pass 0 on the path to its
 * stop. */
static const struct simulated_op passes[] = {
	MUCH, LOCK(0), UNLOCK(0), LOCK(1), LOCK(0), UNLOCK(0), UNLOCK(1)};
static const struct simulated_op blocks[] = {LOCK(0), LOCK(1), UNLOCK(1), UNLOCK(0)};
static const struct simulated_code narrow_codes[] = {CODE(passes), CODE(blocks)};
static const struct simulated_program narrow_way = {
	.codes = narrow_codes, .code_count = 2, .initial_count = 2};

static void directed__stops_before_the_lock_that_is_in_the_way(void **unused)
{
	const object_name first = simulated_object_name(SIMULATED_LOCK, 0);
	const object_name second = simulated_object_name(SIMULATED_LOCK, 1);
	const struct directed_stop stops[2] = {{.object = first,
						       .held = second,
						       .kind = OP_MUTEX_LOCK,
						       .site = SITE(&passes[13]),
						       .approach_kind = OP_MUTEX_LOCK,
						       .approach_site = SITE(&passes[12])},
		{.object = second,
			.held = first,
			.kind = OP_MUTEX_LOCK,
			.site = SITE(&blocks[1]),
			.approach_kind = OP_MUTEX_LOCK,
			.approach_site = SITE(&blocks[0])}};
	struct simulated_campaign campaign;
	uint64_t found;

	(void)unused;
	begin_ring(&campaign, &narrow_way, stops);
	/* Three runs in six begin at the approaches and all succeed; of the others 2^-12 does. */
	found = simulated_campaign_count(&campaign, 600, OUTCOME_DEADLOCK);
	assert_in_range(found, 300, 305);
	simulated_campaign_release(&campaign);
}

/* A lock after a failed try is not held, and a lock that a wait releases is reacquired once. */
static const struct simulated_op waits[] = {
	LOCK(0), WAIT(0, 0), UNLOCK(0), LOCK(2), LOCK(1), UNLOCK(1), UNLOCK(2)};
static const struct simulated_op signals[] = {
	LOCK(0), SIGNAL(0), UNLOCK(0), LOCK(1), LOCK(2), UNLOCK(2), UNLOCK(1)};
static const struct simulated_code waiting_codes[] = {CODE(waits), CODE(signals)};
static const struct simulated_program waiting = {
	.codes = waiting_codes, .code_count = 2, .initial_count = 2};

static void directed__counts_the_mutex_of_a_wait_once(void **unused)
{
	struct simulated_campaign campaign;
	/* The lock of the wait has been given up when it stands there. */
	const struct directed_stop stops[1] = {{.object = simulated_object_name(SIMULATED_LOCK, 1),
		.held = simulated_object_name(SIMULATED_LOCK, 0)}};

	(void)unused;
	simulated_campaign_init(&campaign, &waiting, &strategy_directed, 0, 1);
	directed_state_init(campaign.state, stops, 1);
	(void)simulated_campaign_count(&campaign, 200, OUTCOME_DEADLOCK);
	assert_int_equal(((const struct directed_state *)campaign.state)->arrivals[0], 0);
	simulated_campaign_release(&campaign);
}

static void directed__is_a_random_walk_without_stops(void **unused)
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
		cmocka_unit_test(directed__finds_a_ring_under_other_names),
		cmocka_unit_test(directed__stops_before_the_lock_that_is_in_the_way),
		cmocka_unit_test(directed__counts_the_mutex_of_a_wait_once),
		cmocka_unit_test(directed__is_a_random_walk_without_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
