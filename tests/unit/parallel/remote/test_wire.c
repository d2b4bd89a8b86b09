#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "parallel/remote/wire.h"

static struct link_message message_of(const void *bytes, size_t size)
{
	return (struct link_message){.size = size, .bytes = (char *)(uintptr_t)bytes};
}

#define MESSAGE(object) message_of(&(object), sizeof(object))

static void test_wire_read_unit__refuses_empty_and_endless_units(void **state)
{
	struct lease_table_unit unit = {.first = 3, .end = 7}, read = {0};
	struct link_message message = MESSAGE(unit);

	(void)state;
	assert_true(wire_read_unit(&read, &message));
	assert_memory_equal(&read, &unit, sizeof unit);
	unit.end = 3;
	assert_false(wire_read_unit(&read, &message));
	unit.end = WIRE_RUNS_MAX + 1;
	assert_false(wire_read_unit(&read, &message));
	unit.end = 7;
	message.size--;
	assert_false(wire_read_unit(&read, &message));
	assert_int_equal(read.end, 7); /* the value of the first message */
}

static void test_wire_read_done__refuses_counts_that_overflow(void **state)
{
	struct wire_done done = {.runs = 5, .threads_most = THREAD_CAPACITY}, read;
	const struct link_message message = MESSAGE(done);

	(void)state;
	assert_true(wire_read_done(&read, &message));
	assert_int_equal(read.runs, 5);
	done.threads_most++;
	assert_false(wire_read_done(&read, &message));
	done.threads_most = 1;
	done.runs = WIRE_RUNS_MAX + 1;
	assert_false(wire_read_done(&read, &message));
	done.runs = 5;
	done.outcomes[OUTCOME_KIND_COUNT - 1] = UINT64_MAX;
	assert_false(wire_read_done(&read, &message));
	done.outcomes[OUTCOME_KIND_COUNT - 1] = 0;
	done.steps = UINT64_MAX;
	assert_false(wire_read_done(&read, &message));
	done.steps = 0;
	done.steps_most = UINT64_MAX;
	assert_false(wire_read_done(&read, &message));
	done.steps_most = 0;
	done.took_ns = UINT64_MAX;
	assert_false(wire_read_done(&read, &message));
	done.took_ns = 0;
	assert_true(wire_read_done(&read, &message));
}

static void test_wire_read_started__refuses_bytes_that_are_no_booleans(void **state)
{
	struct wire_started started = {.has_dispatch = 1}, read;
	const struct link_message message = MESSAGE(started);

	(void)state;
	assert_true(wire_read_started(&read, &message));
	assert_int_equal(read.has_dispatch, 1);
	started.has_dispatch = 2;
	assert_false(wire_read_started(&read, &message));
	started.has_dispatch = 1;
	started.restart = RESTART_COUNT;
	assert_false(wire_read_started(&read, &message));
}

static void test_wire_read_end__refuses_bytes_that_are_no_booleans(void **state)
{
	struct wire_end end = {.keeps_folder = 1}, read;
	const struct link_message message = MESSAGE(end);

	(void)state;
	assert_true(wire_read_end(&read, &message));
	assert_int_equal(read.keeps_folder, 1);
	end.all_are_here = 255;
	assert_false(wire_read_end(&read, &message));
}

/* The sizes of its parts must add up to the message, and a confirmation cannot fail more often than it was replayed. */
static void test_wire_read_finding__refuses_parts_that_do_not_fit(void **state)
{
	struct {
		struct wire_finding head;
		char rest[16];
	} whole = {.head = {.json_bytes = 8, .trace_bytes = 8}};
	const size_t size = sizeof whole.head + sizeof whole.rest;
	struct link_message message = message_of(&whole, size);
	struct wire_finding read;
	struct finding finding;
	struct error err;

	(void)state;
	memset(whole.rest, 'x', sizeof whole.rest);
	for (int fault = 0; fault < 5; fault++) {
		whole.head = (struct wire_finding){.json_bytes = 8, .trace_bytes = 8};
		message.size = size;
		switch (fault) {
		case 0:
			whole.head.json_bytes = UINT64_MAX;
			break;
		case 1:
			whole.head.trace_bytes = 9;
			break;
		case 2:
			whole.head.confirmation.failed_again = 1;
			break;
		case 3:
			message.size = sizeof whole.head - 1;
			break;
		default: /* the parts fit, but are no JSON */
			break;
		}
		assert_true(wire_read_finding(&read, &finding, &message, &err) < 0);
		assert_int_equal(!!strstr(err.text, "parts do not fit"), fault < 4);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wire_read_unit__refuses_empty_and_endless_units),
		cmocka_unit_test(test_wire_read_done__refuses_counts_that_overflow),
		cmocka_unit_test(test_wire_read_started__refuses_bytes_that_are_no_booleans),
		cmocka_unit_test(test_wire_read_end__refuses_bytes_that_are_no_booleans),
		cmocka_unit_test(test_wire_read_finding__refuses_parts_that_do_not_fit),
	};

	return cmocka_run_group_tests_name("wire", tests, NULL, NULL);
}
