#include "strategies/strategy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Asks round_robin at a point where the threads of `enabled` (bits) may move. */
static uint32_t choose(uint64_t enabled, uint16_t current)
{
	static const struct pending_op pending[4];
	static const thread_name names[4];
	const struct schedule_view view = {.thread_count = 4,
		.enabled_count = (uint32_t)__builtin_popcountll(enabled),
		.enabled = &enabled,
		.pending = pending,
		.names = names,
		.current = {current}};

	return strategy_round_robin.choose(NULL, &view).index;
}

static void round_robin__goes_on_with_the_current_thread(void **unused)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_robin__goes_on_with_the_current_thread),
		cmocka_unit_test(round_robin__takes_the_next_one_where_the_current_waits),
		cmocka_unit_test(round_robin__comes_round_after_the_last),
		cmocka_unit_test(round_robin__begins_with_the_first_where_nobody_moved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
