/* Operations are read as they were written, and equal ones take little space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/rng.h"
#include "branches/record/op_stream.h"

#define OPS 5000

static void assert_same_streams(const struct record_op *a, const struct record_op *b)
{
	const struct op_stream_op of_a = op_stream_op_of(a), of_b = op_stream_op_of(b);

	assert_int_equal(a->step, b->step);
	assert_true(op_stream_is_same(&of_a, &of_b));
	assert_int_equal(a->thread, b->thread);
	assert_int_equal(a->other, b->other);
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->flags, b->flags);
}

/* Any operations, also if they share slots. */
static void test_read__gives_back_what_was_written(void **state)
{
	static struct op_stream written, read;
	static uint8_t bytes[OPS * OP_STREAM_MOST];
	static struct record_op ops[OPS];
	struct rng rng;
	uint8_t *at = bytes;
	const uint8_t *from = bytes;
	uint64_t step = 0;

	(void)state;
	rng_seed(&rng, 5);
	for (int i = 0; i < OPS; i++) {
		step += rng_below(&rng, 1000);
		ops[i] = (struct record_op){.step = step,
			.address = rng_below(&rng, 3) ? rng_below(&rng, 4) : rng_next(&rng),
			.argument = rng_below(&rng, 4) ? 0 : rng_next(&rng),
			.site = UINT64_MAX - rng_below(&rng, 2000),
			.thread = (uint16_t)rng_below(&rng, 5),
			.other = rng_below(&rng, 2) ? UINT16_MAX : 3,
			.kind = (uint8_t)rng_below(&rng, 200),
			.flags = (uint8_t)rng_below(&rng, 4)};
		at = op_stream_write(&written, &ops[i], at);
	}
	for (int i = 0; i < OPS; i++) {
		struct record_op op;

		from = op_stream_read(&read, from, at, &op);
		assert_same_streams(&op, &ops[i]);
	}
	assert_ptr_equal(from, at);
}

static void test_write__takes_a_byte_for_repetitions(void **state)
{
	static struct op_stream written;
	uint8_t bytes[OP_STREAM_MOST + RECORD_NUMBER_SLACK], *at = bytes;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		const struct record_op op = {.step = 3 * i,
			.site = 0x400000 + 64 * (i % 4),
			.address = 0x7000 + 8 * (i % 4),
			.thread = (uint16_t)(i % 2),
			.other = UINT16_MAX};

		at = op_stream_write(&written, &op, bytes);
		if (i >= 8)
			assert_int_equal(at - bytes, 1);
	}
}

/* For example a barrier, whose argument is the round. */
static void test_write__takes_two_bytes_where_the_argument_grows(void **state)
{
	static struct op_stream written, read;
	uint8_t bytes[OP_STREAM_MOST + RECORD_NUMBER_SLACK], *at = bytes;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		const struct record_op op = {.step = 2 * i,
			.site = 0x400000 + 64 * (i % 2),
			.address = 0x7000,
			.argument = i / 2,
			.other = UINT16_MAX};
		struct record_op again;

		at = op_stream_write(&written, &op, bytes);
		if (i >= 4)
			assert_int_equal(at - bytes, 2);
		assert_ptr_equal(op_stream_read(&read, bytes, at, &again), at);
		assert_same_streams(&op, &again);
	}
}

/* Numbers of each length, on both sides of the next one, are read as written, and not where they
 * are cut. */
static void check_number(uint64_t number)
{
	uint8_t bytes[RECORD_NUMBER_MOST + RECORD_NUMBER_SLACK];
	const uint8_t *const end = record_number_put(bytes, number);
	uint32_t length = 1;
	uint64_t read;

	while (length < 9 && number >> 7 * length)
		length++;
	assert_int_equal(end - bytes, length);
	assert_ptr_equal(record_number_get(bytes, end, &read), end);
	assert_true(read == number);
	assert_ptr_equal(record_number_get(bytes, bytes + sizeof bytes, &read), end);
	assert_true(read == number);
	for (const uint8_t *cut = bytes; cut < end; cut++)
		assert_null(record_number_get(bytes, cut, &read));
}

static void test_numbers__are_read_as_they_were_written(void **state)
{
	(void)state;
	for (uint32_t shift = 0; shift < 64; shift++) {
		for (uint64_t more = 0; more < 3; more++) {
			check_number((UINT64_C(0x9e3779b97f4a7c15) >> shift) + more);
			check_number((UINT64_C(1) << shift) + more - 1);
		}
	}
}

/* Damaged memory of a guest must not lead the host astray. */
static void test_read__reads_cut_files_to_their_end(void **state)
{
	static struct op_stream stream;
	const uint8_t bytes[] = {OP_NEW << 1 | 1, 0, 255, 255};
	struct record_op op;

	(void)state;
	assert_ptr_equal(
		op_stream_read(&stream, bytes, bytes + sizeof bytes, &op), bytes + sizeof bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers__are_read_as_they_were_written),
		cmocka_unit_test(test_read__gives_back_what_was_written),
		cmocka_unit_test(test_write__takes_a_byte_for_repetitions),
		cmocka_unit_test(test_write__takes_two_bytes_where_the_argument_grows),
		cmocka_unit_test(test_read__reads_cut_files_to_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
