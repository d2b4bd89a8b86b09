/* Steps in a schedule that are more or fewer than those of the run, event by event. */
#include "branches/solve/shifts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_shifts__move_what_is_behind_in_their_thread(void **state)
{
	struct shifts shifts = {0};

	(void)state;
	shifts_add(&shifts, (struct event_id){1, 4}, 1);
	shifts_add(&shifts, (struct event_id){1, 7}, -1);
	assert_int_equal(shifts_apply(&shifts, (struct event_id){1, 4}, 10), 10);
	assert_int_equal(shifts_apply(&shifts, (struct event_id){1, 5}, 11), 12);
	assert_int_equal(shifts_apply(&shifts, (struct event_id){1, 7}, 13), 14);
	assert_int_equal(shifts_apply(&shifts, (struct event_id){1, 8}, 14), 14);
	assert_int_equal(shifts_apply(&shifts, (struct event_id){0, 8}, 14), 14);
	shifts_release(&shifts);
	assert_int_equal(shifts_apply(&shifts, (struct event_id){1, 5}, 11), 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shifts__move_what_is_behind_in_their_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
