/* Tests where a thread may be stopped earlier without making another run, and where not. */
#include "strategies/commuting.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct commuting commuting;
static struct pending_op pending[2];
static const struct schedule_view view = {.thread_count = 2, .pending = pending};

static void does(uint16_t thread, enum op_kind kind, object_name object)
{
	pending[thread] = (struct pending_op){
		.kind = (uint8_t)kind, .flags = op_descriptions[kind].flags, .object = object};
	commuting_executed(&commuting, &view, (struct thread_id){thread});
}

/* Thread 0 accesses objects 1, 2 and 3, each a point of its own, and is stopped before the next. */
static void begin_and_stop(enum op_kind second)
{
	commuting_begin_run(&commuting);
	for (object_name object = 1; object <= 3; object++) {
		commuting_point(&commuting, 10 + object, 0);
		does(0, object == 2 ? second : OP_STORE, object);
	}
	commuting_stop(&commuting, (struct thread_id){0});
}

static void commuting__goes_back_to_what_others_depend_on(void **state)
{
	(void)state;
	begin_and_stop(OP_LOAD);
	does(1, OP_STORE, 1);
	assert_int_equal(commuting_first_same(&commuting), 1);
	assert_int_equal(commuting.stretch[1].variable, 12);
	does(1, OP_LOAD, 2); /* two reads may change positions */
	assert_int_equal(commuting_first_same(&commuting), 1);
	does(1, OP_LOAD, 3);
	assert_int_equal(commuting_first_same(&commuting), 3);
}

static void commuting__does_not_look_behind_other_ops(void **state)
{
	(void)state;
	begin_and_stop(OP_MUTEX_LOCK);
	does(1, OP_STORE, 4);
	assert_int_equal(commuting_first_same(&commuting), 0);
	assert_int_equal(commuting.count, 1);
	assert_int_equal(commuting.stretch[0].variable, 13);
}

static void commuting__ends_when_the_thread_continues(void **state)
{
	(void)state;
	begin_and_stop(OP_LOAD);
	does(1, OP_STORE, 4);
	does(0, OP_STORE, 5);
	does(1, OP_STORE, 3);
	assert_int_equal(commuting_first_same(&commuting), 0);
}

static void commuting__knows_only_the_thread_that_was_stopped(void **state)
{
	(void)state;
	commuting_begin_run(&commuting);
	does(1, OP_STORE, 1);
	commuting_stop(&commuting, (struct thread_id){0});
	assert_int_equal(commuting.count, 0);
	/* If the run has no stop, all is the same. */
	commuting_begin_run(&commuting);
	does(0, OP_STORE, 1);
	assert_int_equal(commuting_first_same(&commuting), commuting.count);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commuting__goes_back_to_what_others_depend_on),
		cmocka_unit_test(commuting__does_not_look_behind_other_ops),
		cmocka_unit_test(commuting__ends_when_the_thread_continues),
		cmocka_unit_test(commuting__knows_only_the_thread_that_was_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
