/* A room is as new for the next thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/bitset.h"
#include "branches/interpret/walk_internal.h"

#define LAST (RECORD_MEMORY_BYTES - 1)

static void write_to(struct walker *walker, uint64_t address, uint32_t bytes)
{
	const uint64_t parts[8] = {1, 2, 3, 4, 5, 6, 7, 8};

	walk_written(walker, address, bytes, parts);
}

static bool is_zero(const void *memory, uint64_t bytes)
{
	const char *at = memory;

	return !bytes || (!*at && memcmp(at, at + 1, bytes - 1) == 0);
}

/* Tests also pages, the end of the memory, and addresses that share a location. */
static void test_clear__forgets_what_was_written(void **state)
{
	struct walk_room *room = walk_room_new();
	struct walker walker = {.memory = room->memory, .touched = room->touched};
	const uint64_t address[] = {0, 4093, 8192, LAST, LAST - 4096, UINT64_C(0x7fff12345678)};

	(void)state;
	for (size_t i = 0; i < sizeof address / sizeof *address; i++)
		write_to(&walker, address[i], 64);
	room->values[0] = room->values[RECORD_VALUES - 1] = 1;
	walk_room_note(room->reported, 0);
	walk_room_note(room->reported, RECORD_VALUES - 1);
	room->seen[SEEN_SLOTS - 1] = 1;
	walk_room_note(room->looked, SEEN_SLOTS - 1);
	bitset_add(room->shadow_lines, (uint32_t)WALK_LINES - 1);
	memset(room->locals, 255, 5000);
	walk_room_clear(room, 5000);
	assert_true(is_zero(room->memory, RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK));
	assert_true(is_zero(room->touched, ROOM_PAGES));
	assert_true(is_zero(room->values, RECORD_VALUES * sizeof *room->values));
	assert_true(is_zero(room->seen, SEEN_SLOTS * sizeof *room->seen));
	assert_true(is_zero(room->shadow_lines, BITSET_WORDS(WALK_LINES) * sizeof(uint64_t)));
	assert_true(is_zero(room->locals, 5000));
	walk_room_free(room);
}

/* Tests a large amount, too. */
static void test_clear__gives_back_what_was_much(void **state)
{
	const uint64_t much = UINT64_C(40) << 20;
	struct walk_room *room = walk_room_new();
	struct walker walker = {.memory = room->memory, .touched = room->touched};

	(void)state;
	for (uint64_t at = 0; at < much; at += 4096)
		write_to(&walker, at, 8);
	memset(room->locals, 255, much);
	walk_room_clear(room, much);
	assert_true(is_zero(room->memory, much));
	assert_true(is_zero(room->touched, ROOM_PAGES));
	assert_true(is_zero(room->locals, much));
	walk_room_free(room);
}

static void test_touch__of_nothing_is_nothing(void **state)
{
	struct walk_room *room = walk_room_new();
	struct walker walker = {.memory = room->memory, .touched = room->touched};

	(void)state;
	walk_touch(&walker, 0, 0);
	assert_true(is_zero(room->touched, ROOM_PAGES));
	walk_room_free(room);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clear__forgets_what_was_written),
		cmocka_unit_test(test_clear__gives_back_what_was_much),
		cmocka_unit_test(test_touch__of_nothing_is_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
