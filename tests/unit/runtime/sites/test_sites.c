/* Modules with sites: their ranges of bytes, and their points in the code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/sites/sites.c"
#include "runtime/sites/code_memory.c"
#include "runtime/sites/native_versions.c"
#include "runtime/sites/stubs.c"
#include "runtime/sites/vectors.c"

#define SITES 40
#define POINT_DISTANCE 300 /* several pages in all */
#define CODE_PAGES 4

static struct contract *contract;
static struct contract_memory *memory;
static const char *refused;
static jmp_buf refusal;

struct runtime runtime;
const uint8_t filter_all[FILTER_LINES];
bool runtime_is_up = true;

void runtime_enter(uint64_t site)
{
	(void)site;
}

void focus_left(const char *unused)
{
	(void)unused;
}

void runtime_refuse(const char *why)
{
	refused = why;
	longjmp(refusal, 1);
}

void heap_start_recording(void)
{
}

bool sites_apply(void)
{
	return true;
}

void runtime_note_call(long number, const long arguments[6], long result)
{
	(void)number;
	(void)arguments;
	(void)result;
}

#define TARGET(name)                                                                               \
	void name(void)                                                                            \
	{                                                                                          \
	}
TARGET(site_any)
TARGET(site_load1)
TARGET(site_load2)
TARGET(site_load4)
TARGET(site_load8)
TARGET(site_load16)
TARGET(site_store1)
TARGET(site_store2)
TARGET(site_store4)
TARGET(site_store8)
TARGET(site_store16)

/* ---- a module: pages of code that cannot be written, and records behind them ---- */

struct fake_module {
	unsigned char *code;
	struct site_record *records;
	struct instrumented_module module;
};

static const unsigned char no_op[SITE_POINT_BYTES] = {0x0f, 0x1f, 0x44, 0, 0};

#define OPCODE_RETURN 0xc3

static struct fake_module make_module(uint8_t kind)
{
	struct fake_module fake;
	const size_t bytes = CODE_PAGES * PAGE_BYTES;

	fake.code =
		mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(fake.code != MAP_FAILED);
	fake.records = (struct site_record *)(void *)(fake.code + bytes);
	for (uint32_t i = 0; i < SITES; i++) {
		struct site_record *record = &fake.records[i];
		unsigned char *point = fake.code + i * POINT_DISTANCE;

		memcpy(point, no_op, SITE_POINT_BYTES);
		point[SITE_POINT_BYTES] = OPCODE_RETURN;
		record->point = (int32_t)(point - (unsigned char *)&record->point);
		memcpy(record->operand, "\x49\x89\xfa", 3); /* mov %rdi, %r10 */
		record->kind = kind;
		record->bytes = 8;
	}
	assert_int_equal(mprotect(fake.code, bytes, PROT_READ | PROT_EXEC), 0);
	fake.module = (struct instrumented_module){.magic = INSTRUMENT_MAGIC,
		.version = INSTRUMENT_ABI_VERSION,
		.first = fake.records,
		.end = fake.records + SITES};
	return fake;
}

static void free_module(const struct fake_module *fake)
{
	assert_int_equal(munmap(fake->code, 2 * CODE_PAGES * PAGE_BYTES), 0);
}

/* The memory behind the contract has the largest alignment. */
#define MEMORY_OFFSET ((sizeof *contract + 63) / 64 * 64)

static int set_up(void **state)
{
	(void)state;
	free(contract);
	contract = calloc(1, MEMORY_OFFSET + sizeof *memory);
	if (!contract)
		return -1;
	contract->memory_offset = MEMORY_OFFSET;
	runtime.contract = contract;
	runtime.is_forked_child = false;
	memory = sites_memory();
	sites.module_count = sites.known_count = sites.loaded_count = 0;
	sites_last = NULL;
	refused = NULL;
	return 0;
}

static const unsigned char *stub_of(uint32_t site)
{
	return sites_modules[0].stubs + TARGETS_BYTES + site * STUB_BYTES + sizeof(int32_t);
}

static bool by_byte(const struct site_record *record, uint8_t *state)
{
	(void)record;
	return *state & SITE_ON;
}

static bool all(const struct site_record *record, uint8_t *state)
{
	(void)record;
	(void)state;
	return true;
}

/* ---- registry ---- */

static void test_sites__a_reloaded_module_has_the_same_range(void **state)
{
	struct fake_module one = make_module(SITE_LOAD);
	struct fake_module two = make_module(SITE_STORE);

	(void)state;
	raddle_module_loaded(&one.module);
	raddle_module_loaded(&two.module);
	assert_int_equal(contract->has_memory_sites, 1);
	assert_int_equal(memory->module_count, 2);
	assert_ptr_equal(site_state(one.records + 3), memory->sites + 3);
	assert_ptr_equal(site_state(two.records + 3), memory->sites + SITES + 3);
	raddle_module_unloaded(&one.module);
	assert_null(site_state(one.records + 3));
	assert_ptr_equal(site_state(two.records + 3), memory->sites + SITES + 3);
	raddle_module_loaded(&one.module);
	assert_ptr_equal(site_state(one.records + 3), memory->sites + 3);
	assert_int_equal(memory->module_count, 2);
	assert_int_equal(memory->site_count, 2 * SITES);
	free_module(&one);
	free_module(&two);
}

static void test_sites__reloaded_modules_take_over_stubs(void **state)
{
	struct fake_module one = make_module(SITE_LOAD);
	struct fake_module two = make_module(SITE_STORE);
	const unsigned char *stubs[2];

	(void)state;
	raddle_module_loaded(&one.module);
	raddle_module_loaded(&two.module);
	for (uint32_t i = 0; i < 2; i++)
		stubs[i] = sites_modules[i].stubs;
	raddle_module_unloaded(&one.module);
	raddle_module_unloaded(&two.module);
	assert_int_equal(sites.module_count, 0);
	assert_int_equal(sites.loaded_count, 0);
	raddle_module_loaded(&two.module);
	raddle_module_loaded(&one.module);
	/* The fake modules have no mapping, so either may take over the stubs of the other. */
	for (uint32_t i = 0; i < 2; i++)
		assert_true(
			sites_modules[0].stubs == stubs[i] || sites_modules[1].stubs == stubs[i]);
	assert_int_equal(sites.known_count, 2);
	free_module(&one);
	free_module(&two);
}

static void test_sites__another_build_has_another_range(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	raddle_module_loaded(&fake.module);
	raddle_module_unloaded(&fake.module);
	fake.records[SITES - 1].bytes = 4;
	raddle_module_loaded(&fake.module);
	assert_int_equal(memory->module_count, 2);
	assert_ptr_equal(site_state(fake.records), memory->sites + SITES);
	free_module(&fake);
}

static void test_sites__a_module_that_reports_twice_is_one(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	raddle_module_loaded(&fake.module);
	raddle_module_loaded(&fake.module);
	assert_int_equal(sites.module_count, 1);
	free_module(&fake);
}

static void test_sites__another_layout_of_records_is_refused(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	fake.module.version++;
	if (!setjmp(refusal))
		raddle_module_loaded(&fake.module);
	assert_non_null(refused);
	assert_non_null(strstr(refused, "compile it again"));
	assert_int_equal(contract->has_memory_sites, 0);
	free_module(&fake);
}

static void test_sites__nobody_drives(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	runtime.contract = NULL;
	raddle_module_loaded(&fake.module);
	assert_int_equal(sites.module_count, 0);
	runtime.contract = contract;
	runtime.is_forked_child = true;
	raddle_module_loaded(&fake.module);
	assert_int_equal(sites.module_count, 0);
	free_module(&fake);
}

static void test_sites__more_than_there_is_room_for_stay_off(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	memory->site_count = MEMORY_SITES_MAX - SITES + 1;
	raddle_module_loaded(&fake.module);
	assert_null(site_state(fake.records));
	assert_true(memory->refusal[0]);
	assert_true(sites_switch(all));
	assert_memory_equal(fake.code, no_op, SITE_POINT_BYTES);
	free_module(&fake);
}

/* ---- switching ---- */

static void test_sites__are_switched_on_and_off(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	raddle_module_loaded(&fake.module);
	memory->sites[0] = memory->sites[SITES - 1] = SITE_ON;
	assert_true(sites_switch(by_byte));
	for (uint32_t i = 0; i < SITES; i++) {
		const unsigned char *point = fake.code + i * POINT_DISTANCE;
		int32_t distance;

		if (memory->sites[i]) {
			assert_int_equal(point[0], 0xe8);
			memcpy(&distance, point + 1, sizeof distance);
			assert_ptr_equal(point + SITE_POINT_BYTES + distance, stub_of(i));
		} else {
			assert_memory_equal(point, no_op, SITE_POINT_BYTES);
		}
	}
	memory->sites[0] = 0;
	assert_true(sites_switch(by_byte));
	assert_int_not_equal(fake.code[0], 0xe8);
	assert_int_equal(fake.code[(SITES - 1) * POINT_DISTANCE], 0xe8);
	free_module(&fake);
}

/* The signal that turns sites off may interrupt the thunk before it reads the distance. */
static void test_sites__that_are_turned_off_do_nothing_and_keep_the_distance(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);

	(void)state;
	raddle_module_loaded(&fake.module);
	assert_true(sites_switch(all));
	assert_true(sites_turn_off());
	for (uint32_t i = 0; i < SITES; i++) {
		const unsigned char *point = fake.code + i * POINT_DISTANCE;
		int32_t distance;

		assert_int_not_equal(point[0], 0xe8);
		((void (*)(void))(uintptr_t)point)(); /* returns behind the point */
		memcpy(&distance, point + 1, sizeof distance);
		assert_ptr_equal(point + SITE_POINT_BYTES + distance, stub_of(i));
	}
	free_module(&fake);
}

static void test_sites__native_versions_jump_to_those_with_sites(void **state)
{
	struct fake_module fake = make_module(SITE_FUNCTION_ENTRY);
	unsigned char *native = fake.code + PAGE_BYTES + SITE_VERSION_BYTES;
	unsigned char *word = fake.records[1].operand + SITE_TARGET_OFFSET;
	const int32_t distance = (int32_t)(native - word), version = -200;
	int32_t jump;

	(void)state;
	memcpy(word, &distance, sizeof distance);
	fake.records[1].order = SITE_HAS_NATIVE;
	assert_int_equal(mprotect(fake.code, 2 * PAGE_BYTES, PROT_READ | PROT_WRITE), 0);
	memcpy(native - SITE_VERSION_BYTES, &version, sizeof version);
	assert_int_equal(mprotect(fake.code, 2 * PAGE_BYTES, PROT_READ | PROT_EXEC), 0);
	raddle_module_loaded(&fake.module);
	assert_int_equal(native[0], 0xe9);
	memcpy(&jump, native + 1, sizeof jump);
	assert_int_equal(SITE_POINT_BYTES + jump, version);
	free_module(&fake);
}

static void test_sites__an_unloaded_module_leaves_its_stubs_to_the_next(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);
	const unsigned char *first;

	(void)state;
	raddle_module_loaded(&fake.module);
	memory->sites[0] = SITE_ON;
	assert_true(sites_switch(by_byte));
	first = stub_of(0);
	raddle_module_unloaded(&fake.module);
	raddle_module_loaded(&fake.module);
	memory->sites[1] = SITE_ON;
	assert_true(sites_switch(by_byte));
	assert_ptr_equal(stub_of(0), first);
	free_module(&fake);
}

static void test_sites__without_a_point_are_never_switched(void **state)
{
	struct fake_module fake = make_module(SITE_OPAQUE);

	(void)state;
	raddle_module_loaded(&fake.module);
	for (uint32_t i = 0; i < SITES; i++)
		fake.records[i].point = 0;
	assert_true(sites_switch(all));
	free_module(&fake);
}

static void test_sites__code_that_cannot_be_written_is_reported_once(void **state)
{
	struct fake_module fake = make_module(SITE_LOAD);
	char first[sizeof memory->refusal];

	(void)state;
	raddle_module_loaded(&fake.module);
	assert_int_equal(munmap(fake.code + PAGE_BYTES, PAGE_BYTES), 0); /* mprotect fails there */
	fake.records[PAGE_BYTES / POINT_DISTANCE + 1].kind = SITE_OPAQUE;
	for (uint32_t i = 0; i < SITES; i++) /* the others lie on both sides of it */
		if (i * POINT_DISTANCE + SITE_POINT_BYTES > PAGE_BYTES &&
			i * POINT_DISTANCE < 2 * PAGE_BYTES)
			fake.records[i].kind = SITE_OPAQUE;
	assert_false(sites_switch(all));
	assert_non_null(strstr(memory->refusal, "cannot be written"));
	memcpy(first, memory->refusal, sizeof first);
	assert_false(sites_switch(all));
	assert_string_equal(memory->refusal, first);
	assert_memory_equal(fake.code, no_op, SITE_POINT_BYTES);
	free_module(&fake);
}

#define TEST(name) cmocka_unit_test_setup(name, set_up)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_sites__a_reloaded_module_has_the_same_range),
		TEST(test_sites__reloaded_modules_take_over_stubs),
		TEST(test_sites__another_build_has_another_range),
		TEST(test_sites__a_module_that_reports_twice_is_one),
		TEST(test_sites__another_layout_of_records_is_refused),
		TEST(test_sites__nobody_drives),
		TEST(test_sites__more_than_there_is_room_for_stay_off),
		TEST(test_sites__are_switched_on_and_off),
		TEST(test_sites__that_are_turned_off_do_nothing_and_keep_the_distance),
		TEST(test_sites__native_versions_jump_to_those_with_sites),
		TEST(test_sites__an_unloaded_module_leaves_its_stubs_to_the_next),
		TEST(test_sites__without_a_point_are_never_switched),
		TEST(test_sites__code_that_cannot_be_written_is_reported_once),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	free(contract);
	return failed;
}
