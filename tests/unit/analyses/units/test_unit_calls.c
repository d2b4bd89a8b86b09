/* How calls end: by their return, by what goes through them, with their thread, or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyses/units/unit_calls.c"

/* The function at an address is the address in tens; at an odd one another one was inlined into it. */
const struct atomic_location *atomic_sets_location(struct atomic_sets *sets, uint64_t address)
{
	static struct atomic_location locations[100];
	static const char *const names[] = {"outer", "inner", "other"};
	struct atomic_location *location = &locations[address];

	(void)sets;
	assert_in_range(address, 10, 39);
	location->address = address;
	location->count = 1 + address % 2;
	location->routines[0].routine.name = names[address / 10 - 1];
	location->routines[1].routine.name = "inlined";
	location->routines[1].routine.key = 7;
	return location;
}

static struct unit_calls *calls;

static int begin(void **unused)
{
	(void)unused;
	calls = unit_calls_new(NULL, 2);
	return 0;
}

static int end(void **unused)
{
	(void)unused;
	unit_calls_free(calls);
	return 0;
}

/* Stacks grow downwards: the outermost frame has the highest address. */
static void call(uint16_t thread, uint64_t site, uint64_t frame)
{
	const struct trace_event event = {
		.kind = OP_ENTER, .thread = thread, .site = site, .address = frame};

	assert_true(unit_calls_add(calls, &event));
}

static void leave_frame(uint16_t thread, uint64_t frame, bool has_returned)
{
	const struct trace_event event = {
		.kind = OP_LEAVE, .thread = thread, .address = frame, .bytes = !has_returned};

	assert_true(unit_calls_add(calls, &event));
}

static void happens(uint16_t thread, enum op_kind kind, uint64_t site)
{
	const struct trace_event event = {.kind = (uint8_t)kind, .thread = thread, .site = site};

	assert_false(unit_calls_add(calls, &event));
}

/* The numbers of the calls that a thread is in. */
static uint32_t count_of(uint32_t thread, uint32_t *innermost)
{
	struct atomic_call list[UNIT_CALLS_MOST];
	const uint32_t count = unit_calls_list(calls, thread, list);

	*innermost = count ? list[count - 1].activation : 0;
	return count;
}

static void test_calls__that_return_have_returned(void **unused)
{
	uint32_t number;

	(void)unused;
	call(0, 10, 0x200);
	call(0, 20, 0x100);
	assert_int_equal(count_of(0, &number), 2);
	leave_frame(0, 0x100, true);
	assert_int_equal(unit_calls_ending(calls, number), UNIT_RETURNED);
	assert_int_equal(count_of(0, &number), 1);
	leave_frame(0, 0x200, true);
	unit_calls_end(calls);
	assert_int_equal(unit_calls_ending(calls, number), UNIT_RETURNED);
}

static void test_calls__are_left_by_what_goes_through_them(void **unused)
{
	uint32_t inner, outer;

	(void)unused;
	call(0, 10, 0x200);
	(void)count_of(0, &outer);
	call(0, 20, 0x100);
	(void)count_of(0, &inner);
	leave_frame(0, 0x100, false);
	leave_frame(0, 0x200, true);
	unit_calls_end(calls);
	assert_int_equal(unit_calls_ending(calls, inner), UNIT_LEFT);
	assert_int_equal(unit_calls_ending(calls, outer), UNIT_RETURNED);
}

static void test_calls__end_with_their_thread(void **unused)
{
	uint32_t number, other;

	(void)unused;
	call(1, 10, 0x200);
	(void)count_of(1, &number);
	call(0, 30, 0x200);
	(void)count_of(0, &other);
	happens(1, OP_THREAD_EXIT, 0);
	assert_int_equal(count_of(1, &(uint32_t){0}), 0);
	unit_calls_end(calls);
	assert_int_equal(unit_calls_ending(calls, number), UNIT_LEFT);
	/* The call of the other thread has not ended. */
	assert_int_equal(unit_calls_ending(calls, other), UNIT_OPEN);
}

static void test_calls__that_were_inlined_end_like_those_around_them(void **unused)
{
	uint32_t number;

	(void)unused;
	call(0, 10, 0x200);
	happens(0, OP_LOAD, 11);
	assert_int_equal(count_of(0, &number), 2);
	unit_calls_end(calls);
	assert_int_equal(unit_calls_ending(calls, number), UNIT_OPEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_calls__that_return_have_returned, begin, end),
		cmocka_unit_test_setup_teardown(
			test_calls__are_left_by_what_goes_through_them, begin, end),
		cmocka_unit_test_setup_teardown(test_calls__end_with_their_thread, begin, end),
		cmocka_unit_test_setup_teardown(
			test_calls__that_were_inlined_end_like_those_around_them, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
