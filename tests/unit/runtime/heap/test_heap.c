/* The record of allocations, against a plain list of them. The blocks are only addresses here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/heap/heap.c"
#include "runtime/heap/heap_frees.c"
#include "runtime/heap/heap_outside.c"
#include "runtime/heap/heap_streams.c"

#include "platform/platform.h"

/* ---- replacements of the runtime ---- */

bool runtime_is_up = true;
static struct engine_thread two_threads[2];
static struct engine_thread *moving = &two_threads[0];
static unsigned blocks_made, blocks_freed;

void runtime_enter(uint64_t site)
{
	(void)site;
}

void focus_left(const char *unused)
{
	(void)unused;
}

struct engine_thread *engine_current(void)
{
	return moving;
}

static bool is_live = true;

bool engine_is_live(void)
{
	return is_live;
}

uint64_t engine_step(void)
{
	return 5;
}

void heap_loops_set_up(uint8_t *counts)
{
	(void)counts;
}

uint8_t heap_loop_number(uint64_t stream, uint64_t site)
{
	(void)stream;
	(void)site;
	return 0;
}

/* Bytes whose names are known to change. */
static uintptr_t renamed_start, renamed_before_start;
static size_t renamed_bytes, renamed_before_bytes;

void memory_renamed(uintptr_t start, size_t bytes)
{
	renamed_before_start = renamed_start;
	renamed_before_bytes = renamed_bytes;
	renamed_start = start;
	renamed_bytes = bytes;
}

uint64_t memory_code_name(uint64_t address)
{
	return address;
}

static unsigned blocks_reported;

void filter_add_block(const struct heap_block *block)
{
	(void)block;
	blocks_reported++;
}

void heap_blocks_made(const struct heap_block *block, uint8_t kind)
{
	(void)block;
	(void)kind;
	blocks_made++;
}

void heap_blocks_freed(uintptr_t start)
{
	(void)start;
	blocks_freed++;
}

/* The kernel as it is: the unit under test maps its tables itself. */
long platform_syscall6(long number, long a, long b, long c, long d, long e, long f)
{
	const long result = syscall(number, a, b, c, d, e, f);

	return result < 0 ? -1 : result;
}

static void *at(uint64_t offset)
{
	return (void *)(uintptr_t)(heap.base + STEP_BYTES + offset);
}

static object_name name_at(const void *address)
{
	struct heap_block block;

	return heap_find(address, &block) ? block.name : 0;
}

static int set_up(void **state)
{
	(void)state;
	two_threads[0].name = 7;
	two_threads[1].name = 9;
	moving = &two_threads[0];
	heap_start_recording();
	return heap_is_recording ? 0 : -1;
}

/* Resets the state to that of a new process. */
static int tear_down(void **state)
{
	(void)state;
	(void)munmap(HEAP_ADDRESS, WINDOW_BYTES);
	memset(&heap, 0, sizeof heap);
	memset(&streams, 0, sizeof streams);
	memset(&outside, 0, sizeof outside);
	memset(&frees, 0, sizeof frees);
	is_live = true;
	heap_is_recording = false;
	return 0;
}

/* ---- look-up ---- */

static void test_heap__finds_every_byte_of_a_block_and_no_other(void **state)
{
	struct heap_block block;

	(void)state;
	heap_made(at(0x1000), 100, 77, BLOCK_MALLOC);
	assert_true(heap_find(at(0x1000), &block));
	assert_int_equal(block.start, (uintptr_t)at(0x1000));
	assert_int_equal(block.bytes, 100);
	assert_int_equal(block.site, 77);
	assert_int_equal(block.thread, 7);
	assert_int_equal(block.ordinal, 1);
	assert_true(heap_find(at(0x1000 + 99), &block));
	assert_false(heap_find(at(0x1000 + 100), &block));
	assert_false(heap_find(at(0xfff), &block));
	assert_false(heap_find(at(0x500000), &block));
	assert_false(heap_find(NULL, &block));
	assert_false(heap_find(&block, &block));
}

static void test_heap__reports_whose_names_end(void **state)
{
	(void)state;
	heap_made(at(0x1000), 100, 77, BLOCK_MALLOC);
	assert_true(renamed_start == (uintptr_t)at(0x1000) && renamed_bytes == 100);
	renamed_bytes = 0;
	heap_freed(at(0x1000), 1);
	assert_int_equal(renamed_bytes, 0); /* its name stays */
	heap_made(at(0x1020), 16, 77, BLOCK_MALLOC);
	assert_true(renamed_start == (uintptr_t)at(0x1020) && renamed_bytes == 16);
	assert_true(renamed_before_start == (uintptr_t)at(0x1000) && renamed_before_bytes == 100);
	heap_made(at(WINDOW_BYTES), 16, 77, BLOCK_MALLOC);
	assert_true(renamed_bytes == SIZE_MAX);
	renamed_bytes = 0;
	heap_freed(at(WINDOW_BYTES), 1);
	assert_true(renamed_bytes == SIZE_MAX);
	renamed_bytes = 0;
	heap_unmapped(at(WINDOW_BYTES), 4096);
	assert_true(renamed_bytes == SIZE_MAX);
}

static void test_heap__finds_the_start_of_large_blocks(void **state)
{
	struct heap_block block;

	(void)state;
	heap_made(at(0x20), 30 << 20, 1, BLOCK_MALLOC);
	assert_true(heap_find(at(0x20 + (30 << 20) - 1), &block));
	assert_int_equal(block.start, (uintptr_t)at(0x20));
	assert_true(heap_find(at(17 << 20), &block));
	assert_int_equal(block.start, (uintptr_t)at(0x20));
}

static void test_heap__keeps_the_name_of_a_freed_block_until_it_is_given_out(void **state)
{
	struct heap_block block;
	object_name name;

	(void)state;
	heap_made(at(0x100), 48, 1, BLOCK_MALLOC);
	name = name_at(at(0x110));
	heap_freed(at(0x100), 1);
	heap_freed(at(0x100), 1); /* it is the program's mistake, not ours */
	assert_false(heap_find(at(0x110), &block));
	assert_true(heap_find_any(at(0x110), &block));
	assert_int_equal(block.name, name);
	heap_made(at(0xf0), 200, 2, BLOCK_MALLOC); /* merged with its neighbours */
	assert_true(heap_find(at(0x110), &block));
	assert_int_equal(block.start, (uintptr_t)at(0xf0));
	assert_int_not_equal(block.name, name);
}

static void test_heap_was_freed__names_the_thread_until_reuse(void **state)
{
	struct heap_free freed;

	(void)state;
	heap_made(at(0x100), 48, 1, BLOCK_MALLOC);
	heap_made(at(0x200), 48, 1, BLOCK_MALLOC);
	heap_freed(at(0x200), 3);
	assert_true(heap_was_freed(at(0x210), &freed)); /* although its name was never requested */
	assert_int_equal(freed.site, 3);
	(void)heap_find_any(at(0x110), &(struct heap_block){0});
	assert_false(heap_was_freed(at(0x110), &freed));
	heap_freed(at(0x100), 4);
	heap_freed(at(0x100), 5); /* the first one is it */
	assert_true(heap_was_freed(at(0x12f), &freed));
	assert_int_equal(freed.site, 4);
	assert_int_equal(freed.step, 5);
	assert_false(heap_was_freed(at(0x130), &freed)); /* address behind the block */
	assert_false(heap_was_freed(&freed, &freed));
	heap_made(at(0x100), 16, 2, BLOCK_MALLOC);
	assert_false(heap_was_freed(at(0x100), &freed));
}

static void test_heap_was_freed__is_silent_about_other_runs(void **state)
{
	struct heap_free freed;

	(void)state;
	is_live = false;
	heap_made(at(0x100), 48, 1, BLOCK_MALLOC);
	(void)heap_find_any(at(0x100), &(struct heap_block){0});
	heap_freed(at(0x100), 4); /* before there are threads */
	assert_false(heap_was_freed(at(0x100), &freed));
	is_live = true;
	heap_made(at(0x200), 48, 1, BLOCK_MALLOC);
	(void)heap_find_any(at(0x200), &(struct heap_block){0});
	heap_freed(at(0x200), 4);
	assert_true(heap_was_freed(at(0x200), &freed));
	heap_begin_run();
	assert_false(heap_was_freed(at(0x200), &freed));
}

static void test_heap_was_freed__knows_of_blocks_that_moved(void **state)
{
	struct heap_free freed;

	(void)state;
	heap_made(at(0x100), 48, 1, BLOCK_MALLOC);
	(void)heap_find_any(at(0x100), &(struct heap_block){0});
	heap_moved(at(0x100), at(0x400), 100, 9);
	assert_true(heap_was_freed(at(0x100), &freed));
	assert_int_equal(freed.site, 9);
	assert_false(heap_was_freed(at(0x400), &freed));
}

static void test_heap__frees_of_strangers_change_nothing(void **state)
{
	struct heap_block block;

	(void)state;
	heap_made(at(0x100), 48, 1, BLOCK_MALLOC);
	heap_freed(at(0x110), 1); /* inside */
	heap_freed(at(0x1000), 1);
	heap_freed(&block, 1);
	heap_freed(NULL, 1);
	assert_true(heap_find(at(0x100), &block));
}

static void test_heap__moved_blocks_keep_their_name(void **state)
{
	struct heap_block block;
	object_name name;

	(void)state;
	heap_made(at(0x100), 48, 1, BLOCK_MALLOC);
	name = name_at(at(0x100));
	heap_moved(at(0x100), at(0x100), 90, 2); /* the block is resized in place */
	assert_int_equal(name_at(at(0x100 + 89)), name);
	heap_moved(at(0x100), at(0x4000), 9000, 2);
	assert_int_equal(name_at(at(0x4000 + 8999)), name);
	assert_false(heap_find(at(0x100), &block));
	heap_moved(at(0x9000), at(0xa000), 10, 2); /* made before recording began */
	assert_int_not_equal(name_at(at(0xa000)), 0);
}

static void test_heap__mappings_can_be_given_back_in_parts(void **state)
{
	char *mapping = (char *)0x10000000000;
	struct heap_block block;

	(void)state;
	heap_made(mapping, 3 * 4096, 5, BLOCK_MAPPING);
	heap_made(mapping + 0x100000, 4096, 5, BLOCK_MAPPING);
	assert_int_not_equal(name_at(mapping), name_at(mapping + 0x100000));
	heap_unmapped(mapping + 4096, 0x100000);
	assert_true(heap_find(mapping + 4095, &block));
	assert_false(heap_find(mapping + 4096, &block));
	assert_false(heap_find(mapping + 0x100000, &block));
	heap_unmapped(mapping, 4096);
	assert_false(heap_find(mapping, &block));
}

/* ---- names ---- */

/* Allocations of a thread: its names, in order. */
static void allocate(unsigned thread, unsigned number, uint64_t offset, object_name *names)
{
	moving = &two_threads[thread];
	heap_made(at(offset), 40, 100 + number % 3, BLOCK_MALLOC);
	names[number] = name_at(at(offset));
}

static void test_heap__names_do_not_depend_on_the_other_thread(void **state)
{
	object_name first[2][30], second[2][30];

	for (unsigned i = 0; i < 30; i++) {
		allocate(0, i, 64 * i, first[0]);
		allocate(1, i, 0x10000 + 64 * i, first[1]);
	}
	(void)tear_down(state);
	(void)set_up(state);
	for (unsigned i = 0; i < 30; i++)
		allocate(1, i, 128 * i, second[1]);
	for (unsigned i = 0; i < 30; i++)
		allocate(0, i, 0x40000 + 96 * i, second[0]);
	assert_memory_equal(first, second, sizeof first);
	for (unsigned i = 0; i < 30; i++)
		for (unsigned k = 0; k < 30; k++) {
			assert_true(i == k || first[0][i] != first[0][k]);
			assert_int_not_equal(first[0][i], first[1][k]);
			assert_int_not_equal(first[0][i], 0);
		}
}

static void test_heap__counts_by_site_and_thread(void **state)
{
	struct heap_block block;

	(void)state;
	for (uint32_t i = 0; i < 3 * HEAP_STREAMS_MAX; i++) {
		heap_made(at(0), 40, 1000 + i % (HEAP_STREAMS_MAX + 100), BLOCK_MALLOC);
		assert_true(heap_find(at(8), &block)); /* also if the table of sites is full */
	}
	heap_made(at(0), 40, 1000, BLOCK_MALLOC);
	assert_true(heap_find(at(8), &block));
	assert_int_equal(block.ordinal, 4);
	moving = &two_threads[1];
}

/* ---- against a list ---- */

#define MODEL_BLOCKS 400
#define MODEL_BYTES (8u << 20)

struct model {
	uint64_t start[MODEL_BLOCKS], bytes[MODEL_BLOCKS];
	bool is_live[MODEL_BLOCKS];
	uint64_t random;
};

static uint64_t draw(struct model *model, uint64_t below)
{
	model->random ^= model->random << 13;
	model->random ^= model->random >> 7;
	model->random ^= model->random << 17;
	return model->random % below;
}

static unsigned holder_of(const struct model *model, uint64_t offset)
{
	for (unsigned i = 0; i < MODEL_BLOCKS; i++)
		if (model->is_live[i] && offset - model->start[i] < model->bytes[i])
			return i;
	return MODEL_BLOCKS;
}

/* Room between the live blocks, as an allocator finds it: with the word that holds the size. */
static bool location(struct model *model, unsigned index)
{
	const uint64_t bytes = 1 + draw(model, draw(model, 10) ? 300 : 200000);
	const uint64_t start = draw(model, (MODEL_BYTES - bytes) / 16) * 16;

	for (unsigned i = 0; i < MODEL_BLOCKS; i++)
		if (model->is_live[i] && start < model->start[i] + model->bytes[i] + 24 &&
			model->start[i] < start + bytes + 24)
			return false;
	model->start[index] = start;
	model->bytes[index] = bytes;
	model->is_live[index] = true;
	return true;
}

static void test_heap__agrees_with_a_list(void **state)
{
	struct model *model = calloc(1, sizeof *model);
	struct heap_block block;

	(void)state;
	assert_non_null(model);
	model->random = 88172645463325252u;
	for (unsigned step = 0; step < 60000; step++) {
		const unsigned index = (unsigned)draw(model, MODEL_BLOCKS);
		uint64_t offset = draw(model, MODEL_BYTES);
		unsigned holder;

		if (model->is_live[index]) {
			heap_freed(at(model->start[index]), 1);
			model->is_live[index] = false;
		} else if (location(model, index)) {
			heap_made(at(model->start[index]), model->bytes[index], 5, BLOCK_MALLOC);
			offset = model->start[index] + draw(model, model->bytes[index] + 16);
		}
		holder = holder_of(model, offset);
		assert_int_equal(heap_find(at(offset), &block), holder < MODEL_BLOCKS);
		if (holder < MODEL_BLOCKS) {
			assert_int_equal(block.start, (uintptr_t)at(model->start[holder]));
			assert_int_equal(block.bytes, model->bytes[holder]);
		}
	}
	free(model);
}

static uintptr_t visited_starts;
static unsigned visited;

static void note_visit(const struct heap_block *block)
{
	visited++;
	visited_starts += block->start;
	assert_int_equal(block->bytes, 40);
}

static void test_heap_each__visits_all_blocks(void **state)
{
	(void)state;
	visited = blocks_reported = 0;
	visited_starts = 0;
	heap_made(at(0), 40, 5, BLOCK_MALLOC);
	heap_made(at(4096), 40, 5, BLOCK_MALLOC);
	heap_made(at(8192), 40, 6, BLOCK_MALLOC);
	heap_freed(at(4096), 7); /* late uses mean this block */
	assert_int_equal(blocks_reported, 3);
	heap_each(note_visit);
	assert_int_equal(visited, 3);
	assert_int_equal(
		visited_starts, (uintptr_t)at(0) + (uintptr_t)at(4096) + (uintptr_t)at(8192));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_heap__finds_every_byte_of_a_block_and_no_other),
		TEST(test_heap__reports_whose_names_end),
		TEST(test_heap__finds_the_start_of_large_blocks),
		TEST(test_heap__keeps_the_name_of_a_freed_block_until_it_is_given_out),
		TEST(test_heap__frees_of_strangers_change_nothing),
		TEST(test_heap_was_freed__names_the_thread_until_reuse),
		TEST(test_heap_was_freed__is_silent_about_other_runs),
		TEST(test_heap_was_freed__knows_of_blocks_that_moved),
		TEST(test_heap__moved_blocks_keep_their_name),
		TEST(test_heap__mappings_can_be_given_back_in_parts),
		TEST(test_heap__names_do_not_depend_on_the_other_thread),
		TEST(test_heap__counts_by_site_and_thread), TEST(test_heap__agrees_with_a_list),
		TEST(test_heap_each__visits_all_blocks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
