/* Tests data taken out of an area, at once or in pieces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "branches/record/run_record.h"
#include "model/op.h"

#define AREA_BYTES (record_area_start() + 8 * RECORD_CHUNK_BYTES)

static struct record_area *new_area(void)
{
	struct record_area *area = calloc(1, AREA_BYTES);

	assert_non_null(area);
	area->bytes = AREA_BYTES;
	area->used = record_area_start();
	return area;
}

/* Appends bytes like the guest. */
static void put(
	struct record_area *area, struct record_thread *thread, const void *bytes, size_t size)
{
	if (thread->end - thread->at < (ptrdiff_t)size) {
		struct record_chunk *chunk = (struct record_chunk *)((char *)area + area->used);

		assert_int_equal(thread->last, 0); /* one is enough here */
		*chunk = (struct record_chunk){0};
		thread->first = thread->last = area->used;
		thread->at = (uint8_t *)(chunk + 1);
		thread->end = (uint8_t *)chunk + RECORD_CHUNK_BYTES;
		area->used += RECORD_CHUNK_BYTES;
	}
	memcpy(thread->at, bytes, size);
	thread->at += size;
}

static void test_take__gives_the_same_in_pieces_as_at_once(void **state)
{
	struct run_record whole = {0}, pieces = {0};
	struct record_area *area = new_area();
	const struct record_op op = {.step = 7, .address = 1000, .site = 99, .other = UINT16_MAX};
	struct op_stream stream = {0};
	uint8_t bytes[OP_STREAM_MOST + RECORD_NUMBER_SLACK];
	const size_t size = (size_t)(op_stream_write(&stream, &op, bytes) - bytes);

	(void)state;
	put(area, &area->threads[0], "abcdef", 6);
	put(area, &area->threads[2], "xyz", 3);
	put(area, &area->ops, bytes, size);
	assert_true(run_record_take(&whole, area, AREA_BYTES, 1, 100));
	assert_true(run_record_finish(&whole, area));
	assert_int_equal(area->used, record_area_start());

	put(area, &area->threads[0], "abc", 3);
	assert_true(run_record_take(&pieces, area, AREA_BYTES, 1, 100));
	put(area, &area->threads[0], "def", 3);
	put(area, &area->threads[2], "xy", 2);
	assert_true(run_record_take(&pieces, area, AREA_BYTES, 1, 100));
	put(area, &area->threads[2], "z", 1);
	put(area, &area->ops, bytes, size);
	assert_true(run_record_take(&pieces, area, AREA_BYTES, 1, 100));
	assert_true(run_record_finish(&pieces, area));

	assert_int_equal(whole.thread_count, 3);
	assert_int_equal(pieces.thread_count, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(pieces.threads[i].size, whole.threads[i].size);
		assert_memory_equal(
			pieces.threads[i].bytes, whole.threads[i].bytes, whole.threads[i].size);
	}
	assert_int_equal(pieces.op_count, 1);
	assert_memory_equal(&pieces.ops[0], &op, sizeof op);
	assert_int_equal(pieces.bytes, whole.bytes);
	assert_false(whole.is_partial || pieces.is_partial);
	run_record_release(&whole);
	run_record_release(&pieces);
	free(area);
}

/* The record still counts the bytes that it does not keep. */
static void test_take__keeps_no_more_than_it_may(void **state)
{
	struct run_record all = {0}, some = {0};
	struct record_area *area = new_area();
	struct run_record *const records[] = {&all, &some};

	(void)state;
	for (int i = 0; i < 2; i++) {
		put(area, &area->threads[0], "abc", 3);
		assert_true(run_record_take(records[i], area, AREA_BYTES, 1, i ? 5 : 100));
		put(area, &area->threads[0], "def", 3);
		assert_true(run_record_take(records[i], area, AREA_BYTES, 1, i ? 5 : 100));
		assert_true(run_record_finish(records[i], area));
	}
	assert_true(some.is_partial);
	assert_memory_equal(some.threads[0].bytes, "abc", 3);
	assert_int_equal(some.threads[0].size, 4); /* three bytes and the end */
	assert_int_equal(some.bytes, all.bytes);
	run_record_release(&all);
	run_record_release(&some);
	free(area);
}

/* Long entries move to a file: more than 64 MB in pieces of one chunk. */
static void test_take__keeps_long_entries(void **state)
{
	enum { PIECE = 65000, PIECES = 1100 };
	struct run_record record = {0};
	struct record_area *area = new_area();
	uint8_t *piece = malloc(PIECE);

	(void)state;
	assert_non_null(piece);
	for (int i = 0; i < PIECES; i++) {
		memset(piece, i % 251, PIECE);
		put(area, &area->threads[0], piece, PIECE);
		assert_true(run_record_take(&record, area, AREA_BYTES, 1, UINT64_MAX));
	}
	assert_true(run_record_finish(&record, area));
	assert_false(record.is_partial);
	assert_true(record.threads[0].size > (uint64_t)PIECE * PIECES);
	for (int i = 0; i < PIECES; i++) {
		memset(piece, i % 251, PIECE);
		assert_memory_equal(record.threads[0].bytes + (uint64_t)i * PIECE, piece, PIECE);
	}
	run_record_release(&record);
	free(piece);
	free(area);
}

/* Stray writes of the target. A run in progress has one chunk of each kind and one image. */
static void test_take__refuses_an_area_that_the_target_wrote_over(void **state)
{
	static const uint64_t hostile[] = {UINT64_MAX, UINT64_C(1) << 40, 1, 8};

	(void)state;
	for (uint32_t round = 0; round < 6 * sizeof hostile / sizeof *hostile; round++) {
		const uint64_t value = hostile[round / 6];
		struct run_record record = {0};
		struct record_area *area = new_area();
		struct record_chunk *chunk =
			(struct record_chunk *)((char *)area + record_area_start());

		put(area, &area->threads[0], "abc", 3);
		put(area, &area->ops, "", 1);
		switch (round % 6) {
		case 0:
			area->threads[0].first = value;
			break;
		case 1:
			chunk->next = record_area_start(); /* a cycle */
			break;
		case 2:
			area->threads[0].at = area->threads[0].end + 1 + value % 1000;
			break;
		case 3:
			area->threads[0].last = 0;
			chunk->used = value | RECORD_CHUNK_BYTES;
			break;
		case 4:
			area->image_count = 1;
			area->images[0].bytes = value | UINT64_C(1) << 63;
			break;
		default:
			area->object_count = (uint32_t)value | 2 * RECORD_OBJECTS_MAX;
			break;
		}
		assert_false(run_record_take(&record, area, AREA_BYTES, 1, 100) &&
			     run_record_finish(&record, area));
		run_record_release(&record);
		free(area);
	}
}

static void test_take__refuses_impossible_ops(void **state)
{
	static const struct record_op hostile[] = {{.kind = OP_KIND_COUNT, .other = UINT16_MAX},
		{.thread = 1, .other = UINT16_MAX}, {.other = 1}};

	(void)state;
	for (uint32_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
		struct run_record record = {0};
		struct record_area *area = new_area();
		struct op_stream stream = {0};
		uint8_t bytes[OP_STREAM_MOST + RECORD_NUMBER_SLACK];

		put(area, &area->ops, bytes,
			(size_t)(op_stream_write(&stream, &hostile[i], bytes) - bytes));
		assert_true(run_record_take(&record, area, AREA_BYTES, 1, 100));
		assert_false(run_record_finish(&record, area));
		run_record_release(&record);
		free(area);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_take__gives_the_same_in_pieces_as_at_once),
		cmocka_unit_test(test_take__keeps_no_more_than_it_may),
		cmocka_unit_test(test_take__keeps_long_entries),
		cmocka_unit_test(test_take__refuses_an_area_that_the_target_wrote_over),
		cmocka_unit_test(test_take__refuses_impossible_ops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
