#include "branches/record/record_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/sample_record.h"

static char path[] = "/tmp/raddle_record.XXXXXX";

static int make_file(void **state)
{
	const int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* The whole file; returns its size. */
static size_t slurp(uint8_t *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");
	size_t size;

	assert_non_null(file);
	size = fread(bytes, 1, room, file);
	(void)fclose(file);
	assert_true(size > sizeof(struct record_file_head) && size < room);
	return size;
}

static void spill(const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static size_t write_sample(uint8_t *bytes, size_t room)
{
	struct run_record record = sample_record();
	struct error err;

	assert_int_equal(record_file_write(&record, path, &err), 0);
	run_record_release(&record);
	return slurp(bytes, room);
}

static void assert_refused(const char *text)
{
	struct run_record record;
	struct error err;

	assert_true(record_file_read(&record, path, &err) < 0);
	if (!strstr(err.text, text))
		fail_msg("\"%s\" does not say \"%s\"", err.text, text);
	assert_non_null(strstr(err.text, "; "));
}

static void test_record_file__gives_back_what_was_written(void **state)
{
	struct run_record before = sample_record(), after;
	struct error err;

	(void)state;
	assert_int_equal(record_file_write(&before, path, &err), 0);
	assert_int_equal(record_file_read(&after, path, &err), 0);
	assert_int_equal(after.thread_count, before.thread_count);
	for (uint32_t i = 0; i < before.thread_count; i++) {
		assert_int_equal(after.threads[i].name, before.threads[i].name);
		assert_int_equal(after.threads[i].parent, before.threads[i].parent);
		assert_int_equal(after.threads[i].ordinal, before.threads[i].ordinal);
		assert_int_equal(after.threads[i].size, before.threads[i].size);
		assert_memory_equal(
			after.threads[i].bytes, before.threads[i].bytes, before.threads[i].size);
	}
	assert_memory_equal(after.modules, before.modules, 2 * sizeof *before.modules);
	assert_memory_equal(after.objects, before.objects, 2 * sizeof *before.objects);
	assert_memory_equal(after.images, before.images, 2 * sizeof *before.images);
	assert_memory_equal(after.image_bytes, before.image_bytes, before.image_size);
	assert_memory_equal(after.ops, before.ops, 2 * sizeof *before.ops);
	assert_true(after.bytes > after.threads[0].size && after.bytes < before.bytes);
	assert_true(after.is_partial && !after.is_checked);
	run_record_release(&before);
	run_record_release(&after);
}

static void test_record_file__reports_where_it_was_cut(void **state)
{
	uint8_t bytes[4096];
	const size_t size = write_sample(bytes, sizeof bytes);

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		spill(bytes, cut);
		assert_refused(
			cut < sizeof(struct record_file_head) ? "is no record" : "is cut short");
	}
	spill(bytes, size);
}

static void test_record_file__notices_every_changed_byte(void **state)
{
	uint8_t bytes[4096];
	const size_t size = write_sample(bytes, sizeof bytes);

	(void)state;
	for (size_t at = 0; at < size; at++) {
		/* Reserved fields may have any value. */
		if (at >= offsetof(struct record_file_head, reserved) &&
			at < offsetof(struct record_file_head, plain_bytes))
			continue;
		bytes[at] ^= 0xff;
		spill(bytes, size);
		assert_refused("; ");
		bytes[at] ^= 0xff;
	}
}

static void test_record_file__refuses_other_formats(void **state)
{
	uint8_t bytes[4096];
	const size_t size = write_sample(bytes, sizeof bytes);

	(void)state;
	bytes[offsetof(struct record_file_head, version)]++;
	spill(bytes, size);
	assert_refused("written by another raddle");
	spill((const uint8_t *)"#!/bin/sh\necho this is something else\n", 38);
	assert_refused("is no record");
}

/* A few bytes that claim to be a record of more than half the memory. */
static void test_record_file__refuses_more_than_fits_in_memory(void **state)
{
	const uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t plain_bytes = memory / 2 + 1;
	uint8_t frame[16] = {0x28, 0xb5, 0x2f, 0xfd, 0xe0}; /* one segment, size of eight bytes */
	uint8_t bytes[sizeof(struct record_file_head) + sizeof frame];
	struct record_file_head head = {.version = RECORD_VERSION,
		.plain_bytes = plain_bytes,
		.stored_bytes = sizeof frame};

	(void)state;
	if (plain_bytes > UINT64_C(1) << 36)
		skip(); /* the format has a lower bound */
	memcpy(head.magic, RECORD_FILE_MAGIC, sizeof head.magic);
	memcpy(frame + 5, &plain_bytes, sizeof plain_bytes);
	memcpy(bytes, &head, sizeof head);
	memcpy(bytes + sizeof head, frame, sizeof frame);
	spill(bytes, sizeof bytes);
	assert_refused("is too long to be read");
}

static void test_record_file__reports_where_it_cannot_write(void **state)
{
	struct run_record record = sample_record();
	struct error err;

	(void)state;
	assert_int_equal(record_file_write(&record, "/nowhere/at/all", &err), ERROR_IO);
	assert_non_null(strstr(err.text, "cannot write /nowhere/at/all"));
	assert_int_equal(record_file_write(&record, "/dev/full", &err), ERROR_IO);
	run_record_release(&record);
}

static void test_record_contents__refuse_threads_that_create_themselves(void **state)
{
	struct run_record record = sample_record(), after;
	struct error err;
	uint8_t *bytes;
	size_t size;

	(void)state;
	record.threads[1].parent = 1;
	bytes = record_contents(&record, &size);
	assert_int_equal(record_contents_read(&after, bytes, size, "it", &err), ERROR_FORMAT);
	assert_non_null(strstr(err.text, "creator"));
	free(bytes);
	run_record_release(&record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_file__gives_back_what_was_written),
		cmocka_unit_test(test_record_file__reports_where_it_was_cut),
		cmocka_unit_test(test_record_file__notices_every_changed_byte),
		cmocka_unit_test(test_record_file__refuses_other_formats),
		cmocka_unit_test(test_record_file__refuses_more_than_fits_in_memory),
		cmocka_unit_test(test_record_file__reports_where_it_cannot_write),
		cmocka_unit_test(test_record_contents__refuse_threads_that_create_themselves),
	};

	return cmocka_run_group_tests(tests, make_file, remove_file);
}
