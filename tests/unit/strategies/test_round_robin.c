#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Asks round_robin at step `step` of a run, where the threads of `enabled` (bits) may move, after
 * `made` steps of the current thread. */
static uint32_t choose_at(uint64_t step, int64_t steps, int64_t order, uint64_t enabled,
	uint16_t current, uint32_t made)
{
	const struct strategy_config config = {.option = {steps, order}};
	uint64_t state[8] = {0};

	static const struct pending_op pending[4];
	static const thread_name names[4];
	const struct schedule_view view = {.thread_count = 4,
		.enabled_count = (uint32_t)__builtin_popcountll(enabled),
		.enabled = &enabled,
		.pending = pending,
		.names = names,
		.step = step,
		.current = {current}};

	assert_true(strategy_state_bytes(&strategy_round_robin, &config) <= sizeof state);
	strategy_begin_campaign(&strategy_round_robin, state, &config);
	strategy_round_robin.begin_run(state, 1);
	for (uint32_t i = 0; i < made; i++)
		strategy_round_robin.executed(state, &view, view.current);
	return strategy_round_robin.choose(state, &view).index;
}

static uint32_t choose_with(
	int64_t steps, int64_t order, uint64_t enabled, uint16_t current, uint32_t made)
{
	return choose_at(0, steps, order, enabled, current, made);
}

static uint32_t choose(uint64_t enabled, uint16_t current)
{
	return choose_with(0, 0, enabled, current, 9);
}

static void round_robin__continues_with_the_current_thread(void **unused)
{
	(void)unused;
	assert_int_equal(choose(0xf, 2), 2);
}

static void round_robin__takes_the_next_one_where_the_current_waits(void **unused)
{
	(void)unused;
	assert_int_equal(choose(0xb, 2), 3);
	assert_int_equal(choose(0x9, 1), 3);
}

static void round_robin__comes_round_after_the_last(void **unused)
{
	(void)unused;
	assert_int_equal(choose(0x3, 2), 0);
	assert_int_equal(choose(0x6, 3), 1);
}

static void round_robin__begins_with_the_first_where_nobody_moved(void **unused)
{
	(void)unused;
	assert_int_equal(choose(0xe, THREAD_NONE.index), 1);
}

static void round_robin__doubles_its_steps_in_long_runs(void **unused)
{
	(void)unused;
	assert_int_equal(choose_at(1023, 1, 0, 0xf, 2, 1), 3);
	assert_int_equal(choose_at(1024, 1, 0, 0xf, 2, 1), 2);
	assert_int_equal(choose_at(1024, 1, 0, 0xf, 2, 2), 3);
	assert_int_equal(choose_at(3072, 3, 0, 0xf, 2, 23), 2);
	assert_int_equal(choose_at(3072, 3, 0, 0xf, 2, 24), 3);
}

static void round_robin__switches_after_its_steps(void **unused)
{
	(void)unused;
	assert_int_equal(choose_with(1, 0, 0xf, 2, 1), 3);
	assert_int_equal(choose_with(1, 0, 0xf, 3, 1), 0);
	assert_int_equal(choose_with(1, 0, 0x4, 2, 1), 2);
	assert_int_equal(choose_with(3, 0, 0xf, 2, 2), 2);
	assert_int_equal(choose_with(3, 0, 0xf, 2, 3), 3);
}

static void round_robin__may_begin_with_the_newest(void **unused)
{
	(void)unused;
	assert_int_equal(choose_with(0, 1, 0xf, 2, 9), 0);
	assert_int_equal(choose_with(0, 1, 0xe, 1, 9), 3);
	assert_int_equal(choose_with(0, 1, 0x6, 1, 9), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_robin__continues_with_the_current_thread),
		cmocka_unit_test(round_robin__takes_the_next_one_where_the_current_waits),
		cmocka_unit_test(round_robin__comes_round_after_the_last),
		cmocka_unit_test(round_robin__begins_with_the_first_where_nobody_moved),
		cmocka_unit_test(round_robin__doubles_its_steps_in_long_runs),
		cmocka_unit_test(round_robin__switches_after_its_steps),
		cmocka_unit_test(round_robin__may_begin_with_the_newest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
