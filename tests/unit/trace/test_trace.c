/* Writer, reader and dump of traces, against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/sample_trace.h"
#include "trace/trace_format_internal.h"
#include "trace/trace_reader.h"

/* Several blocks of them, and an uneven end. */
#define EVENTS 20001

/* The sample with room for one more byte, to be freed. */
static unsigned char *load(uint64_t event_count, size_t *size)
{
	char *sample = make_sample_trace(event_count, size);
	unsigned char *bytes = malloc(*size + 1);

	assert_non_null(bytes);
	memcpy(bytes, sample, *size);
	free(sample);
	return bytes;
}

static struct trace_reader *open_or_fail(const void *bytes, size_t size)
{
	struct trace_reader *reader;
	struct error err;

	if (trace_reader_open(&reader, bytes, size, "sample", &err))
		fail_msg("%s", err.text);
	return reader;
}

/* Reads everything; returns the first error. */
static int read_all(const void *bytes, size_t size, struct error *err)
{
	struct trace_reader *reader;
	const struct trace_event *events;
	uint32_t count = 1;
	int status = trace_reader_open(&reader, bytes, size, "sample", err);

	if (status)
		return status;
	while (!status && count)
		status = trace_reader_next(reader, &events, &count, err);
	trace_reader_close(reader);
	return status;
}

static void test_trace__is_read_as_written(void **state)
{
	const struct outcome expected = sample_outcome();
	size_t size;
	char *bytes = make_sample_trace(EVENTS, &size);
	struct trace_reader *reader = open_or_fail(bytes, size);
	const struct trace_run *run;
	const struct trace_event *events;
	struct error err;
	uint64_t seen = 0;
	uint32_t count;

	(void)state;
	run = trace_reader_run(reader);
	assert_string_equal(run->program, "./bank --two words");
	assert_int_equal(run->thread_count, SAMPLE_THREADS);
	assert_string_equal(run->threads[1].path, "main.0");
	assert_string_equal(run->threads[1].label, "worker");
	assert_int_equal(run->threads[1].create_site, 0x401000);
	assert_int_equal(run->threads[1].start, 0x402000);
	while (!trace_reader_next(reader, &events, &count, &err) && count)
		for (uint32_t i = 0; i < count; i++) {
			const struct trace_event event = sample_event(seen++);

			assert_memory_equal(&events[i], &event, sizeof event);
		}
	assert_int_equal(seen, EVENTS);
	assert_int_equal(run->event_count, EVENTS);
	assert_int_equal(run->events_dropped, 6);
	assert_memory_equal(&run->outcome, &expected, sizeof expected);
	/* Asked again, it still is at its end. */
	assert_int_equal(trace_reader_next(reader, &events, &count, &err), 0);
	assert_int_equal(count, 0);
	trace_reader_close(reader);
	free(bytes);
}

static void test_trace__is_equal_byte_for_byte(void **state)
{
	unsigned char *first, *second;
	size_t first_size, second_size;

	(void)state;
	first = load(EVENTS, &first_size);
	second = load(EVENTS, &second_size);
	assert_int_equal(first_size, second_size);
	assert_memory_equal(first, second, first_size);
	free(first);
	free(second);
}

static void test_trace__without_events_and_threads_is_whole(void **state)
{
	const struct trace_run run = {0};
	struct outcome outcome;
	struct error err;
	char *bytes;
	size_t size;

	(void)state;
	outcome_set(&outcome, OUTCOME_PASSED, THREAD_NONE, 0);
	bytes = trace_writer_finish(trace_writer_new(&run), &outcome, 0, &size);
	if (read_all(bytes, size, &err))
		fail_msg("%s", err.text);
	free(bytes);
}

static void test_trace__keeps_4096_deep_threads(void **state)
{
	static struct trace_thread threads[THREAD_CAPACITY];
	const struct trace_run run = {.threads = threads, .thread_count = THREAD_CAPACITY};
	struct outcome outcome;
	struct trace_reader *reader;
	size_t size;
	char *bytes, *deepest = malloc(2 * THREAD_CAPACITY + 8);

	(void)state;
	assert_non_null(deepest);
	strcpy(deepest, "main");
	for (unsigned i = 0; i < THREAD_CAPACITY; i++)
		strcpy(deepest + 4 + 2 * i, ".0");
	for (unsigned i = 0; i < THREAD_CAPACITY; i++)
		threads[i].path = deepest;
	outcome_set(&outcome, OUTCOME_PASSED, THREAD_NONE, 0);
	bytes = trace_writer_finish(trace_writer_new(&run), &outcome, 0, &size);
	reader = open_or_fail(bytes, size);
	assert_int_equal(trace_reader_run(reader)->thread_count, THREAD_CAPACITY);
	assert_string_equal(trace_reader_run(reader)->threads[4095].path, deepest);
	trace_reader_close(reader);
	free(bytes);
	free(deepest);
}

static void test_trace__refuses_every_cut(void **state)
{
	unsigned char *bytes;
	struct error err;
	size_t size;

	(void)state;
	bytes = load(100, &size);
	assert_int_equal(read_all(bytes, size, &err), 0);
	for (size_t cut = 0; cut < size; cut++)
		assert_int_equal(read_all(bytes, cut, &err), ERROR_FORMAT);
	free(bytes);
}

static void test_trace__refuses_every_changed_byte(void **state)
{
	unsigned char *bytes;
	struct error err;
	size_t size;

	(void)state;
	bytes = load(100, &size);
	for (size_t at = 0; at < size; at++) {
		bytes[at] ^= 0x10;
		err.text[0] = '\0';
		if (!read_all(bytes, size, &err))
			fail_msg("byte %zu of %zu was not missed", at, size);
		assert_non_null(strstr(err.text, "; "));
		bytes[at] ^= 0x10;
	}
	free(bytes);
}

static void test_trace__refuses_what_follows_the_end(void **state)
{
	unsigned char *bytes;
	struct error err;
	size_t size;

	(void)state;
	bytes = load(3, &size);
	bytes[size] = 0;
	assert_int_equal(read_all(bytes, size + 1, &err), ERROR_FORMAT);
	assert_non_null(strstr(err.text, "follows"));
	free(bytes);
}

static void test_trace__refuses_a_future_version(void **state)
{
	unsigned char *bytes;
	struct error err;
	size_t size;

	(void)state;
	bytes = load(3, &size);
	bytes_put(bytes + 8, TRACE_VERSION + 1, 4);
	bytes_put(bytes + 16, hash_bytes(bytes, 16), 8);
	assert_int_equal(read_all(bytes, size, &err), ERROR_VERSION);
	assert_non_null(strstr(err.text, "version 4"));
	free(bytes);
}

static void test_trace__refuses_what_is_no_trace(void **state)
{
	struct error err;

	(void)state;
	assert_int_equal(read_all("\x7f"
				  "ELF and so on, longer than a header",
				 36, &err),
		ERROR_FORMAT);
	assert_non_null(strstr(err.text, "not a trace"));
	assert_int_equal(read_all("", 0, &err), ERROR_FORMAT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace__is_read_as_written),
		cmocka_unit_test(test_trace__is_equal_byte_for_byte),
		cmocka_unit_test(test_trace__without_events_and_threads_is_whole),
		cmocka_unit_test(test_trace__keeps_4096_deep_threads),
		cmocka_unit_test(test_trace__refuses_every_cut),
		cmocka_unit_test(test_trace__refuses_every_changed_byte),
		cmocka_unit_test(test_trace__refuses_what_follows_the_end),
		cmocka_unit_test(test_trace__refuses_a_future_version),
		cmocka_unit_test(test_trace__refuses_what_is_no_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
