#include "branches/interpret/walk_room.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "base/bitset.h"
#include "base/bug.h"
#include "branches/interpret/walk_internal.h"

/* If more than this was written, the pages are returned to the kernel instead of cleared. */
#define KEPT_BYTES (UINT64_C(8) << 20)

static void *walk_room_reserve(uint64_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	BUG_ON(memory == MAP_FAILED);
	return memory;
}

struct walk_room *walk_room_new(void)
{
	struct walk_room *room = array_new(1, sizeof *room);
	room->frames = walk_room_reserve(FRAMES_MOST * sizeof *room->frames);
	room->registers = walk_room_reserve(REGISTERS_MOST * sizeof *room->registers);
	room->terms = walk_room_reserve(REGISTERS_MOST * sizeof(struct term *));
	room->locals = walk_room_reserve(LOCALS_MOST);
	room->memory = walk_room_reserve(RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK);
	room->touched = array_new(ROOM_PAGES, 1);
	room->values = array_new(RECORD_VALUES, sizeof *room->values);
	room->seen = array_new(SEEN_SLOTS, sizeof *room->seen);
	room->shadow_lines = array_new(BITSET_WORDS(WALK_LINES), sizeof *room->shadow_lines);
	room->library = walk_room_reserve(sizeof *room->library);
	return room;
}

void walk_room_free(struct walk_room *room)
{
	if (!room)
		return;
	/* Cannot fail: the mappings are our own. */
	(void)munmap(room->frames, FRAMES_MOST * sizeof *room->frames);
	(void)munmap(room->registers, REGISTERS_MOST * sizeof *room->registers);
	(void)munmap(room->terms, REGISTERS_MOST * sizeof(struct term *));
	(void)munmap(room->locals, LOCALS_MOST);
	(void)munmap(room->memory, RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK);
	(void)munmap(room->library, sizeof *room->library);
	free(room->touched);
	free(room->values);
	free(room->seen);
	free(room->shadow_lines);
	free(room);
}

static void walk_room_clear_memory(struct walk_room *room)
{
	uint64_t cleared = 0, page = 0;
	uint8_t *touched;

	while (cleared < KEPT_BYTES &&
		(touched = memchr(room->touched + page, 1, ROOM_PAGES - page))) {
		page = (uint64_t)(touched - room->touched);
		memset(room->memory + (page << ROOM_PAGE_BITS), 0, UINT64_C(1) << ROOM_PAGE_BITS);
		*touched = 0;
		cleared += UINT64_C(1) << ROOM_PAGE_BITS;
	}
	if (cleared < KEPT_BYTES)
		return;
	/* Cannot fail: our own mapping, which reads as zeros afterwards. */
	(void)madvise(room->memory, RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK, MADV_DONTNEED);
	memset(room->touched, 0, ROOM_PAGES);
}

/* Clears the slots that a walk has used. Most threads use few. */
static void walk_room_clear_slots(uint64_t *slots, uint8_t *used, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (!used[i])
			continue;
		memset(slots + i * ROOM_SLOTS, 0, ROOM_SLOTS * sizeof *slots);
		used[i] = 0;
	}
}

void walk_room_clear(struct walk_room *room, uint64_t locals)
{
	walk_room_clear_memory(room);
	if (locals > KEPT_BYTES)
		(void)madvise(room->locals, LOCALS_MOST, MADV_DONTNEED); /* cannot fail either */
	else
		memset(room->locals, 0, locals);
	walk_room_clear_slots(room->values, room->reported, sizeof room->reported);
	walk_room_clear_slots(room->seen, room->looked, sizeof room->looked);
	memset(room->shadow_lines, 0, BITSET_WORDS(WALK_LINES) * sizeof *room->shadow_lines);
}
