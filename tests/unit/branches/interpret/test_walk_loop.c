/*
 * Compares the fast path of the walk with the slow one. The tests walk functions of codes made by
 * hand; each register must hold the result of compute_*() for the same operands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "branches/interpret/walk_internal.h"

#define CODES_MOST 64

/* A function of two parameters, and a thread that is in it. */
struct bench {
	struct code_book book;
	struct walk walk;
	struct walk_summary summary;
	struct walked_thread out;
	struct function function;
	struct code codes[CODES_MOST];
	uint64_t constants[8];
	uint64_t registers[256];
	struct term *terms[256];
	struct frame frames[2];
	uint8_t *memory; /* memory of all addresses, most of which is never touched */
	uint8_t touched[ROOM_PAGES];
	uint8_t locals[256];
	uint64_t visits[8];
	bool is_symbolic;
	struct walker walker;
};

static struct bench *make_bench(uint32_t values)
{
	struct bench *bench = calloc(1, sizeof *bench);

	assert_non_null(bench);
	/* The memory is mapped, because a sanitizer would record something for each byte of a
	 * malloc() block. */
	bench->memory = mmap(NULL, RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	assert_ptr_not_equal(bench->memory, MAP_FAILED);
	bench->function.codes = bench->codes;
	bench->function.constants = bench->constants;
	bench->function.value_count = values;
	return bench;
}

static void free_bench(struct bench *bench)
{
	free(bench->function.ops);
	assert_int_equal(munmap(bench->memory, RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK), 0);
	free(bench);
}

static struct code *add(struct bench *bench, enum code_op op, uint8_t sub, uint8_t width,
	int32_t to, int32_t a, int32_t b)
{
	struct code *code = &bench->codes[bench->function.code_count++];

	*code = (struct code){.op = (uint8_t)op,
		.sub = sub,
		.width = width,
		.to = to,
		.a = a,
		.b = b,
		.site = SITE_NONE,
		.branch = UINT32_MAX};
	return code;
}

static int32_t constant(struct bench *bench, uint64_t value)
{
	bench->constants[bench->function.constant_count] = value;
	return (int32_t)(bench->function.value_count + bench->function.constant_count++);
}

/* Ends with a code that is not known, which ends the walk. */
static void walk_it(struct bench *bench)
{
	struct walker *walker = &bench->walker;

	add(bench, CODE_UNKNOWN, 0, 0, -1, 0, 0)->text = "the end";
	bench->function.register_count =
		bench->function.value_count + bench->function.constant_count;
	code_make_ops(&bench->function);
	memcpy(bench->registers + bench->function.value_count, bench->constants,
		sizeof bench->constants);
	bench->frames[0] = (struct frame){.function = &bench->function,
		.at = bench->codes,
		.is_symbolic = bench->is_symbolic};
	walker->walk = &bench->walk;
	walker->book = &bench->book;
	walker->summary = &bench->summary;
	walker->out = &bench->out;
	walker->frames = bench->frames;
	walker->frame_count = 1;
	walker->registers = bench->registers;
	walker->terms = bench->terms;
	walker->memory = bench->memory;
	walker->touched = bench->touched;
	walker->locals = bench->locals;
	walker->visits = bench->visits;
	walk_frames(walker);
	assert_true(walker->is_over);
	assert_string_equal(bench->summary.reason, "the end");
}

static const uint64_t interesting[] = {0, 1, 2, 3, 7, 31, 32, 63, 64, 127, 128, 255, 256, 32767,
	32768, 65535, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, 0x7fffffffffffffff,
	0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff};

#define INTERESTING (sizeof interesting / sizeof *interesting)

typedef uint64_t meaning(uint8_t sub, uint32_t width, uint64_t a, uint64_t b);

static uint64_t binary(uint8_t sub, uint32_t width, uint64_t a, uint64_t b)
{
	return compute_binary(sub, width, a, b);
}

static uint64_t comparison(uint8_t sub, uint32_t width, uint64_t a, uint64_t b)
{
	return compute_compare(sub, width, a, b);
}

/* Checks the operation with two registers, and with a constant for the second. */
static void check_pair(
	enum code_op op, uint8_t sub, uint8_t width, uint64_t a, uint64_t b, meaning *means)
{
	struct bench *bench = make_bench(4);
	const uint64_t wanted = means(sub, width, a, b);

	bench->registers[0] = a;
	bench->registers[1] = b;
	add(bench, op, sub, width, 2, 0, 1);
	add(bench, op, sub, width, 3, 0, constant(bench, b));
	walk_it(bench);
	if (bench->registers[2] != wanted || bench->registers[3] != wanted)
		fail_msg("op %d, %u of %u bits of %#lx and %#lx: %#lx and %#lx, not %#lx", (int)op,
			sub, width, (unsigned long)a, (unsigned long)b,
			(unsigned long)bench->registers[2], (unsigned long)bench->registers[3],
			(unsigned long)wanted);
	free_bench(bench);
}

static void check_all(enum code_op op, uint8_t sub, meaning *means)
{
	static const uint8_t widths[] = {1, 8, 16, 32, 64};

	for (size_t w = 0; w < sizeof widths; w++)
		for (size_t i = 0; i < INTERESTING; i++)
			for (size_t j = 0; j < INTERESTING; j++) {
				const uint64_t a = compute_mask(interesting[i], widths[w]);
				const uint64_t b = compute_mask(interesting[j], widths[w]);
				const bool is_shift =
					sub == LLVMShl || sub == LLVMLShr || sub == LLVMAShr;

				/* Beyond its width a shift has no value. */
				if (op == CODE_BINARY && is_shift && b >= widths[w])
					continue;
				check_pair(op, sub, widths[w], a, b, means);
			}
}

static void test_quick_arithmetic__is_as_computed(void **state)
{
	static const uint8_t opcodes[] = {LLVMAdd, LLVMSub, LLVMMul, LLVMAnd, LLVMOr, LLVMXor,
		LLVMShl, LLVMLShr, LLVMAShr, LLVMUDiv, LLVMSDiv, LLVMURem, LLVMSRem};

	(void)state;
	for (size_t i = 0; i < sizeof opcodes; i++)
		check_all(CODE_BINARY, opcodes[i], binary);
}

static void test_quick_comparisons__are_as_computed(void **state)
{
	(void)state;
	for (uint8_t predicate = LLVMIntEQ; predicate <= LLVMIntSLE; predicate++)
		check_all(CODE_COMPARE, predicate, comparison);
}

static void test_quick_comparisons_of_doubles__are_as_computed(void **state)
{
	static const double values[] = {0, -0.0, 1, -1, 1e300, __builtin_inf(), __builtin_nan("")};

	(void)state;
	for (uint8_t predicate = LLVMRealPredicateFalse; predicate <= LLVMRealPredicateTrue;
		predicate++)
		for (size_t i = 0; i < 49; i++) {
			struct bench *bench = make_bench(3);
			uint64_t a, b;

			memcpy(&a, &values[i / 7], sizeof a);
			memcpy(&b, &values[i % 7], sizeof b);
			bench->registers[0] = a;
			bench->registers[1] = b;
			add(bench, CODE_FLOAT_COMPARE, predicate, 64, 2, 0, 1);
			walk_it(bench);
			assert_int_equal(
				bench->registers[2], compute_float_compare(predicate, 64, a, b));
			free_bench(bench);
		}
}

static void test_casts__keep_the_right_bits(void **state)
{
	struct bench *bench = make_bench(6);

	(void)state;
	bench->registers[0] = 0x80f1;
	add(bench, CODE_TRUNCATE, 16, 8, 1, 0, 0);
	add(bench, CODE_SIGN_EXTEND, 8, 32, 2, 1, 0);
	add(bench, CODE_SIGN_EXTEND, 32, 64, 3, 2, 0);
	add(bench, CODE_ZERO_EXTEND, 32, 64, 4, 2, 0);
	walk_it(bench);
	assert_int_equal(bench->registers[1], 0xf1);
	assert_int_equal(bench->registers[2], 0xfffffff1);
	assert_int_equal(bench->registers[3], 0xfffffffffffffff1);
	assert_int_equal(bench->registers[4], 0xfffffff1);
	free_bench(bench);
}

/* A comparison and its branch are one; the values that move along the edge are exchanged. */
static void test_branch__takes_its_edge_and_exchanges_values(void **state)
{
	struct move swap[] = {{0, 1}, {1, 0}}, none[1];
	struct edge edges[] = {{.target = 2, .count = 2, .moves = swap, .is_entangled = true},
		{.target = 0, .moves = none}};
	struct bench *bench = make_bench(4);
	struct code *code;

	(void)state;
	bench->registers[0] = 5;
	bench->registers[1] = 9;
	add(bench, CODE_COMPARE, LLVMIntULT, 64, 2, 0, 1);
	code = add(bench, CODE_BRANCH, 0, 0, -1, 2, 0);
	code->edges = edges;
	code->count = 2;
	code->branch = 3;
	code->instructions = 7;
	walk_it(bench);
	assert_int_equal(bench->registers[0], 9);
	assert_int_equal(bench->registers[1], 5);
	assert_int_equal(bench->visits[3], 1);
	assert_int_equal(bench->walker.instructions, 7);
	free_bench(bench);
}

/* A read gives the stored value, because the recorder would have seen the same. */
static void test_predicted_reads__give_what_was_written(void **state)
{
	struct bench *bench = make_bench(8);
	const int32_t where = constant(bench, 0x7ffff7a01004),
		      next = constant(bench, 0x7ffff7a01006);
	static const uint8_t widths[] = {64, 32, 16, 8};

	(void)state;
	bench->registers[0] = 0x1122334455667788;
	for (int i = 0; i < 5; i++) {
		struct code *code =
			add(bench, i ? CODE_LOAD : CODE_STORE, 0, i ? widths[i - 1] : 64,
				i ? i : -1, i ? (i > 2 ? next : where) : 0, i ? 0 : where);

		code->bytes = code->width / 8u;
		code->count = 1;
		code->site = 0;
	}
	bench->walker.left = 4;
	walk_it(bench);
	assert_int_equal(bench->walker.left, 0);
	assert_int_equal(bench->registers[1], 0x1122334455667788);
	assert_int_equal(bench->registers[2], 0x55667788);
	assert_int_equal(bench->registers[3], 0x5566);
	assert_int_equal(bench->registers[4], 0x66);
	free_bench(bench);
}

/* A read that was not predicted is in the record, and the next one of the same location is predicted. */
static void test_other_reads__are_taken_from_the_record(void **state)
{
	/* A read that is 0x04030201 more than what was known (twice that, by seven bits), one predicted read
	 * behind it, the end. */
	uint8_t entries[3 * RECORD_NUMBER_MOST + RECORD_NUMBER_SLACK], *end = entries;
	struct bench *bench = make_bench(4);
	const int32_t where = constant(bench, 0x1000);

	(void)state;
	for (int i = 1; i < 3; i++) {
		struct code *code = add(bench, CODE_LOAD, 0, 32, i, where, 0);

		code->bytes = 4;
		code->count = 1;
		code->site = 0;
	}
	end = record_number_put(end, RECORD_READ);
	end = record_number_put(end, record_difference(0x04030201, 0, 4));
	end = record_number_put(end, 1 << RECORD_TAG_BITS | RECORD_END);
	bench->walker.at = entries;
	bench->walker.end = end;
	walk_next_entry(&bench->walker);
	walk_it(bench);
	assert_int_equal(bench->registers[1], 0x04030201);
	assert_int_equal(bench->registers[2], 0x04030201);
	assert_int_equal(bench->walker.left, 0);
	assert_int_equal(bench->walker.tag, RECORD_END);
	free_bench(bench);
}

static void test_pending_write__is_forgotten_when_others_ran(void **state)
{
	struct bench *bench = make_bench(2);
	const int32_t where = constant(bench, 0x2000);
	struct code *code;

	(void)state;
	bench->registers[0] = 77;
	code = add(bench, CODE_STORE, 0, 64, -1, 0, where);
	code->bytes = 8;
	code->count = 1;
	code->site = 0;
	walk_it(bench);
	assert_int_equal(bench->memory[0x2000], 77);
	walk_drop(&bench->walker);
	assert_int_equal(bench->memory[0x2000], 0);
	free_bench(bench);
}

static void make_sums(struct bench *bench)
{
	bench->registers[0] = 20;
	bench->registers[1] = 4;
	add(bench, CODE_BINARY, LLVMAdd, 64, 2, 0, constant(bench, 3));
	add(bench, CODE_BINARY, LLVMMul, 64, 3, 2, 1);
	add(bench, CODE_BINARY, LLVMAdd, 64, 4, 1, 1);
	bench->walker.mode = WALK_EVENTS;
}

static void test_terms__follow_values(void **state)
{
	struct bench *bench = make_bench(5);
	struct term *variable = term_variable(&bench->walk.terms, 64, 20);

	(void)state;
	make_sums(bench);
	bench->terms[0] = variable;
	bench->terms[4] = variable; /* the term of an earlier value */
	bench->is_symbolic = true;
	walk_it(bench);
	assert_int_equal(bench->registers[3], 92);
	assert_non_null(bench->terms[3]);
	assert_int_equal(bench->terms[3]->value, 92);
	assert_ptr_equal(term_operand(term_operand(bench->terms[3], 0), 0), variable);
	assert_null(bench->terms[4]);
	term_arena_release(&bench->walk.terms);
	free_bench(bench);
}

/* Remains of an earlier frame are not read. */
static void test_terms__are_none_in_frames_without(void **state)
{
	struct bench *bench = make_bench(5);
	struct term stale = {.op = TERM_VARIABLE, .width = 64};

	(void)state;
	make_sums(bench);
	bench->terms[0] = bench->terms[1] = &stale;
	walk_it(bench);
	assert_int_equal(bench->registers[3], 92);
	assert_int_equal(bench->registers[4], 8);
	assert_null(walk_operand_term(&bench->walker, 0));
	assert_int_equal(bench->walk.terms.used, 0);
	free_bench(bench);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quick_arithmetic__is_as_computed),
		cmocka_unit_test(test_quick_comparisons__are_as_computed),
		cmocka_unit_test(test_quick_comparisons_of_doubles__are_as_computed),
		cmocka_unit_test(test_casts__keep_the_right_bits),
		cmocka_unit_test(test_branch__takes_its_edge_and_exchanges_values),
		cmocka_unit_test(test_predicted_reads__give_what_was_written),
		cmocka_unit_test(test_other_reads__are_taken_from_the_record),
		cmocka_unit_test(test_pending_write__is_forgotten_when_others_ran),
		cmocka_unit_test(test_terms__follow_values),
		cmocka_unit_test(test_terms__are_none_in_frames_without),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
