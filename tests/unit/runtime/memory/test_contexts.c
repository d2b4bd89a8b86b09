/* Tests which functions threads are in, by the frames at their sites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "runtime/memory/contexts.c"

/* ---- environment: one thread, a trace ---- */

#define EVENTS 32

static struct {
	struct contract contract;
	struct contract_event events[EVENTS];
} block;
static struct engine_thread thread;

struct runtime runtime = {.contract = &block.contract};

struct engine_thread *engine_current(void)
{
	return &thread;
}

uint64_t engine_step(void)
{
	return 7;
}

/* Frames of a stack that grows downwards: the outermost is the last. They lie on main()'s, as frames do. */
static uint64_t (*frames)[2];

static const struct site_record entry = {.kind = SITE_FUNCTION_ENTRY},
				leaving = {.kind = SITE_FUNCTION_EXIT}, load = {.kind = SITE_LOAD};

static void note(const struct site_record *record, unsigned frame)
{
	contexts_note(record, (uintptr_t)frames[frame]);
}

static uint32_t now(void)
{
	return contexts_of(thread.id);
}

static int set_up(void **unused)
{
	(void)unused;
	block.contract.trace_offset = offsetof(__typeof__(block), events);
	block.contract.trace_bytes = sizeof block.events;
	block.contract.trace_count = 0;
	for (unsigned i = 0; i < 8; i++)
		frames[i][1] = 0x1000 + i;
	if (!contexts)
		assert_true(contexts_set_up());
	contexts_begin_run();
	return 0;
}

static void test_contexts__are_of_calls(void **unused)
{
	uint32_t outer, inner;

	(void)unused;
	assert_int_equal(now(), 0);
	note(&entry, 5);
	outer = now();
	assert_int_not_equal(outer, 0);
	note(&entry, 3);
	inner = now();
	assert_int_not_equal(inner, outer);
	note(&leaving, 3);
	assert_int_equal(now(), outer);
	/* The same call again is the same context; from another allocation site it is another. */
	note(&entry, 3);
	assert_int_equal(now(), inner);
	note(&leaving, 3);
	frames[3][1] = 0x2000;
	note(&entry, 3);
	assert_int_not_equal(now(), inner);
	note(&leaving, 3);
	note(&leaving, 5);
	assert_int_equal(now(), 0);
}

static void test_contexts__jumps_leave_functions(void **unused)
{
	uint32_t outer;

	(void)unused;
	note(&entry, 6);
	outer = now();
	note(&entry, 4);
	note(&entry, 2);
	/* Back in the outer one without having left the others. */
	note(&load, 6);
	assert_int_equal(now(), outer);
	/* Leaving a function that was entered before recording began has no effect. */
	note(&leaving, 6);
	note(&leaving, 7);
	assert_int_equal(now(), 0);
}

/* A call in the place of a return takes the frame over, and is still in the function that was left. */
static void test_contexts__calls_in_the_allocation_site_of_returns(void **unused)
{
	static const struct site_record instead = {.kind = SITE_FUNCTION_EXIT, .bytes = SITE_TAIL},
					other = {.kind = SITE_FUNCTION_ENTRY};
	uint32_t outer, inner;

	(void)unused;
	note(&entry, 5);
	outer = now();
	note(&instead, 5);
	assert_int_equal(now(), outer); /* it may call what has no sites */
	note(&other, 5);
	inner = now();
	assert_int_not_equal(inner, outer);
	note(&leaving, 5);
	assert_int_equal(now(), 0);
	/* Alone it is another context. */
	note(&other, 5);
	assert_int_not_equal(now(), inner);
	note(&leaving, 5);
	/* The caller continues: the same function again, or another one from another allocation site. */
	note(&entry, 5);
	note(&instead, 5);
	note(&entry, 5);
	assert_int_equal(now(), outer);
	note(&instead, 5);
	frames[5][1] = 0x3000;
	note(&other, 5);
	assert_int_not_equal(now(), inner);
	note(&leaving, 5);
	assert_int_equal(now(), 0);
}

static void test_contexts__traces_show_what_is_needed(void **unused)
{
	const struct contract_event *events = block.events;

	(void)unused;
	note(&entry, 6);
	note(&entry, 4);
	note(&leaving, 4); /* nothing happened in it */
	assert_int_equal(block.contract.trace_count, 0);
	note(&entry, 4);
	contexts_report(thread.id, 9);
	contexts_report(thread.id, 10); /* once is enough */
	assert_int_equal(block.contract.trace_count, 2);
	assert_int_equal(events[0].kind, OP_ENTER);
	assert_int_equal(events[0].step, 9);
	assert_int_equal(events[0].callers[0], 0x1006);
	assert_int_equal(events[1].object, now());
	note(&leaving, 4);
	assert_int_equal(block.contract.trace_count, 3);
	assert_int_equal(events[2].kind, OP_LEAVE);
	assert_int_equal(events[2].address, (uintptr_t)frames[4]);
}

int main(void)
{
	uint64_t own[8][2];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_contexts__are_of_calls, set_up),
		cmocka_unit_test_setup(test_contexts__jumps_leave_functions, set_up),
		cmocka_unit_test_setup(
			test_contexts__calls_in_the_allocation_site_of_returns, set_up),
		cmocka_unit_test_setup(test_contexts__traces_show_what_is_needed, set_up),
	};

	frames = own;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
