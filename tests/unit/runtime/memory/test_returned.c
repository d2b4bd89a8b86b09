/* Freed blocks, compared with an array that has the state of every byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <malloc.h>

#include <cmocka.h>

static size_t usable_bytes;
static size_t usable(void *block)
{
	(void)block;
	return usable_bytes;
}

#define malloc_usable_size usable
#define __libc_free note_free
#include "runtime/memory/returned.c"

#include "base/rng.h"

/* ---- replacements of the runtime ---- */

bool runtime_is_up = true;
static bool is_watched = true, is_foreign;
static unsigned watches, reported;
static struct outcome latest;
static struct engine_thread moving = {.id = {3}};

/* A sanitizer's shadow, a byte for eight of the memory from 0 on. */
static uint8_t shadow_bytes[1 << 14];

static void tell_shadow(size_t *scale, size_t *offset)
{
	*scale = 3;
	*offset = (uintptr_t)shadow_bytes;
}

struct runtime runtime;
static struct contract contract;

bool guarded_read(const void *address, size_t bytes, uint64_t *value)
{
	const uint8_t *byte = address;

	if (bytes == sizeof *value) { /* a word of an object */
		memcpy(value, address, bytes);
		return true;
	}
	assert_int_equal(bytes, 1);
	if (byte < shadow_bytes || byte >= shadow_bytes + sizeof shadow_bytes)
		return false;
	*value = *byte;
	return true;
}

bool memory_is_watched(void)
{
	return is_watched;
}

bool record_is_on(void)
{
	return false;
}

struct engine_thread *engine_current(void)
{
	return &moving;
}

uint64_t engine_step(void)
{
	return 7;
}

static uint32_t living;

uint32_t engine_live_count(void)
{
	return living;
}

void engine_watch_uses(void)
{
	watches++;
}

void engine_fail_by_verdict(const struct outcome *verdict)
{
	latest = *verdict;
	reported++;
}

static void *freed;

void note_free(void *block)
{
	freed = block;
}

static void other_free(void *block)
{
	(void)block;
}

void *runtime_next_symbol(const char *name)
{
	assert_string_equal(name, "free");
	return (void *)(uintptr_t)(is_foreign ? other_free : __libc_free);
}

/* ---- the tests ---- */

static void give_back(uintptr_t start, size_t bytes)
{
	usable_bytes = bytes;
	returned_note((void *)start, 0x101);
}

static bool is_reported(uintptr_t address)
{
	const unsigned before = reported;
	const struct engine_op op = {
		.kind = OP_COND_SIGNAL, .address = (void *)address, .site = 0x200};

	returned_check_use(&op);
	return reported > before;
}

static int set_up(void **state)
{
	(void)state;
	returned_begin_run();
	is_watched = true;
	watches = reported = 0;
	living = 1;
	freed = NULL;
	runtime.contract = &contract;
	return 0;
}

static void test_returned__reports_a_second_free(void **state)
{
	(void)state;
	give_back(0x10010, 40);
	assert_int_equal(reported, 0);
	assert_int_equal(watches, 1);
	give_back(0x10010, 40);
	assert_int_equal(reported, 1);
	assert_int_equal(latest.kind, OUTCOME_DOUBLE_FREE);
	assert_int_equal(latest.address, 0x10010);
	assert_int_equal(latest.other_thread.index, 3);
	assert_int_equal(latest.other_step, 7);
	assert_int_equal(latest.other_site, 0x101);
}

/* An object that thread 3 destroys, and thread 4 uses. */
static void test_returned__reports_a_use_of_a_destroyed_object(void **state)
{
	static struct cond cond;
	static struct rwlock rwlock;
	const struct engine_op destroys = {
		.kind = OP_COND_DESTROY, .address = &cond, .site = 0x101};

	(void)state;
	cond = (struct cond){.clock = SYNC_DESTROYED};
	returned_note_destroyed(&destroys, sizeof cond);
	assert_int_equal(watches, 1);
	assert_false(is_reported((uintptr_t)&cond)); /* the same thread */
	moving.id.index = 4;
	assert_true(is_reported((uintptr_t)&cond));
	assert_int_equal(latest.kind, OUTCOME_USE_AFTER_FREE);
	assert_int_equal(latest.other_op, OP_COND_DESTROY);
	assert_int_equal(latest.other_thread.index, 3);
	assert_int_equal(latest.other_site, 0x101);
	/* Something else was written to the memory, which is no object. */
	cond = (struct cond){.first = 7};
	assert_true(is_reported((uintptr_t)&cond));
	/* A static initialiser, and a use of the new object. */
	cond = (struct cond){0};
	assert_false(is_reported((uintptr_t)&cond));
	cond.waiter_count = 1;
	assert_false(is_reported((uintptr_t)&cond));
	/* An object of another kind. */
	moving.id.index = 3;
	returned_note_destroyed(
		&(struct engine_op){.kind = OP_RWLOCK_DESTROY, .address = &rwlock}, sizeof rwlock);
	moving.id.index = 4;
	rwlock.readers = 1;
	assert_false(is_reported((uintptr_t)&rwlock));
	moving.id.index = 3;
}

static void test_returned__reports_a_lock_of_a_destroyed_mutex(void **state)
{
	static struct mutex mutex;
	const struct engine_op destroys = {.kind = OP_MUTEX_DESTROY, .address = &mutex};
	const struct engine_op locks = {.kind = OP_MUTEX_LOCK, .address = &mutex};
	const unsigned before = reported;

	(void)state;
	returned_note_destroyed(&destroys, sizeof mutex);
	mutex.kind = -1;
	returned_check_use(&locks); /* the same thread */
	assert_int_equal(reported, before);
	moving.id.index = 4;
	returned_check_use(&locks);
	assert_int_equal(reported, before + 1);
	mutex.kind = 0; /* initialised again */
	returned_check_use(&locks);
	assert_int_equal(reported, before + 1);
	moving.id.index = 3;
}

static void test_returned__reports_a_use_of_any_part(void **state)
{
	(void)state;
	give_back(0x10010, 200);
	assert_false(is_reported(0x1000f));
	assert_true(is_reported(0x10010));
	assert_true(is_reported(0x10010 + 199));
	assert_false(is_reported(0x10010 + 200));
	assert_int_equal(latest.kind, OUTCOME_USE_AFTER_FREE);
	assert_int_equal(latest.op, OP_COND_SIGNAL);
	assert_int_equal(latest.site, 0x200);
}

static void test_returned__reports_nothing_of_reused_memory(void **state)
{
	(void)state;
	give_back(0x10010, 200);
	returned_given_out((void *)0x10060, 16);
	assert_false(is_reported(0x10010));
	assert_false(is_reported(0x10060));
	give_back(0x10010, 24);
	assert_int_equal(reported, 0);
}

static void test_returned__does_not_look_at_large_blocks(void **state)
{
	(void)state;
	give_back(0x10010, BYTES_MOST + 1);
	assert_false(is_reported(0x10010));
}

static void test_returned__looks_at_nothing_outside_of_runs(void **state)
{
	(void)state;
	is_watched = false;
	give_back(0x10010, 100);
	is_watched = true;
	assert_false(is_reported(0x10010));
}

#define ARENA 0x100000
#define ARENA_BYTES (96 * 1024)
#define GRAIN 16
#define GRAINS (ARENA_BYTES / GRAIN)

/* State of every 16 bytes: free since the last free, allocated, or never touched. */
enum { UNTOUCHED, GIVEN_OUT, GIVEN_BACK };

/* Every report is true; the control: many of the possible reports are made. */
static void test_returned__reports_nothing_false_in_random_histories(void **state)
{
	static uint8_t memory[GRAINS];
	static uint32_t sizes[GRAINS]; /* sizes of the allocated blocks, by start */
	unsigned found = 0, asked = 0;
	struct rng random;

	(void)state;
	rng_seed(&random, 1);
	for (int step = 0; step < 200000; step++) {
		const uint32_t at = rng_below(&random, GRAINS);
		const uint32_t wanted = 2 + rng_below(&random, step % 50 ? 12 : 3000);
		uint32_t room = 0;

		if (sizes[at]) {
			give_back(ARENA + at * GRAIN, sizes[at] * GRAIN - 8);
			memset(&memory[at], GIVEN_BACK, sizes[at]);
			sizes[at] = 0;
			continue;
		}
		while (room < wanted && at + room < GRAINS && memory[at + room] != GIVEN_OUT)
			room++;
		if (room == wanted && step % 3) {
			returned_given_out(
				(void *)(uintptr_t)(ARENA + at * GRAIN), wanted * GRAIN - 8);
			memset(&memory[at], GIVEN_OUT, wanted);
			sizes[at] = wanted;
			continue;
		}
		if (is_reported(ARENA + at * GRAIN)) {
			assert_int_equal(memory[at], GIVEN_BACK);
			found++;
		}
		asked += memory[at] == GIVEN_BACK;
	}
	assert_int_equal(latest.kind, OUTCOME_USE_AFTER_FREE); /* double frees did not occur */
	assert_true(found > 1000 && found <= asked);
}

/* While another thread may use them. Numbers stay. */
static void test_returned__pointers_in_freed_blocks_are_overwritten(void **state)
{
	const uint64_t pointer = UINT64_C(0x555555554321), stack = UINT64_C(0x7fffffffe000);
	const uint64_t numbers = UINT64_C(0x500000007), fraction = UINT64_C(0x3ff0000000000000);
	uint64_t block[600] = {pointer, numbers, stack, numbers, fraction, pointer};

	(void)state;
	block[31] = block[32] = pointer;
	living = 1;
	give_back((uintptr_t)block, 44);
	returned_begin_run();
	contract.plan.tolerated = UINT64_C(1) << OUTCOME_USE_AFTER_FREE;
	living = 2;
	give_back((uintptr_t)block, 44);
	returned_begin_run();
	assert_int_equal(block[0], pointer);
	contract.plan.tolerated = 0;
	give_back((uintptr_t)block, 44);
	returned_begin_run();
	assert_int_equal(block[0], FREED_WORD);
	assert_int_equal(block[1], FREED_WORD); /* part of the mark */
	assert_int_equal(block[2], FREED_WORD);
	assert_int_equal(block[3], numbers);
	assert_int_equal(block[4], fraction);
	assert_int_equal(block[5], pointer);
	give_back((uintptr_t)block, sizeof block);
	assert_int_equal(block[5], FREED_WORD);
	assert_int_equal(block[31], FREED_WORD);
	assert_int_equal(block[32], pointer);
	assert_true(freed_word_gives(block[5] + 40));
	assert_false(freed_word_gives(pointer));
}

/* A held block is freed when its entry is needed. */
static void test_returned__small_blocks_are_held(void **state)
{
	static uint64_t blocks[BLOCKS + 2][HELD_MOST / 8];

	(void)state;
	living = 2;
	usable_bytes = HELD_MOST + 8;
	assert_false(returned_note(blocks[0], 1));
	usable_bytes = HELD_MOST;
	living = 1;
	assert_false(returned_note(blocks[1], 1));
	living = 2;
	for (unsigned i = 2; i < BLOCKS; i++)
		assert_true(returned_note(blocks[i], 1));
	assert_true(returned_note(blocks[0], 1));
	assert_true(returned_note(blocks[1], 1));
	assert_int_equal(reported, 0);
	assert_null(freed);
	assert_true(returned_note(blocks[BLOCKS], 1));
	assert_ptr_equal(freed, blocks[2]);
	assert_true(returned_note(blocks[3], 1)); /* a second free */
	assert_int_equal(latest.kind, OUTCOME_DOUBLE_FREE);
	assert_ptr_equal(freed, blocks[2]);
}

/* Last: the shadow stays for all later tests. */
static void test_returned__believes_a_sanitizers_shadow(void **state)
{
	(void)state;
	returned_look_for_shadow();
	assert_int_equal(watches, 0); /* the process has no shadow */
	shadow.is_searched = false;
	runtime.sanitizer_shadow = tell_shadow;
	is_foreign = true;
	returned_look_for_shadow();
	assert_int_equal(watches, 1);
	give_back(0x10010, 64);
	assert_false(is_reported(0x10018)); /* the shadow says not yet, or allocated again */
	memset(shadow_bytes + (0x10010 >> 3), SHADOW_FREED, 64 >> 3);
	assert_true(is_reported(0x10018));
	assert_int_equal(latest.kind, OUTCOME_USE_AFTER_FREE);
	assert_int_equal(latest.other_site, 0x101);
	/* It says so better than we. */
	give_back(0x10010, 64);
	assert_int_equal(reported, 1);
	/* The freeing thread is unknown. */
	memset(shadow_bytes + (0x11000 >> 3), SHADOW_FREED, 1);
	assert_true(is_reported(0x11007));
	assert_int_equal(latest.other_site, 0);
	assert_int_equal(latest.other_thread.index, THREAD_NONE.index);
	/* Another kind of poison, and memory without a shadow. */
	shadow_bytes[0x12000 >> 3] = 0xf7;
	assert_false(is_reported(0x12000));
	assert_false(is_reported(0x7ffffff8));
	is_foreign = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_returned__reports_a_second_free, set_up),
		cmocka_unit_test_setup(test_returned__reports_a_use_of_a_destroyed_object, set_up),
		cmocka_unit_test_setup(test_returned__reports_a_lock_of_a_destroyed_mutex, set_up),
		cmocka_unit_test_setup(test_returned__reports_a_use_of_any_part, set_up),
		cmocka_unit_test_setup(test_returned__reports_nothing_of_reused_memory, set_up),
		cmocka_unit_test_setup(test_returned__does_not_look_at_large_blocks, set_up),
		cmocka_unit_test_setup(test_returned__looks_at_nothing_outside_of_runs, set_up),
		cmocka_unit_test_setup(
			test_returned__reports_nothing_false_in_random_histories, set_up),
		cmocka_unit_test_setup(
			test_returned__pointers_in_freed_blocks_are_overwritten, set_up),
		cmocka_unit_test_setup(test_returned__small_blocks_are_held, set_up),
		cmocka_unit_test_setup(test_returned__believes_a_sanitizers_shadow, set_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
