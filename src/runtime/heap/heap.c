/*
 * Records live allocations by address; glibc's allocator is unaffected.
 *
 * Most blocks lie in the brk heap; the tables cover a *window* of it. A bitmap has one bit per 16
 * bytes, set where a block starts. In each higher level, a bit says that a word of the level below
 * is not zero. A few steps find the start before any address. Records lie in a table of 16-byte
 * entries, one per 32 bytes of heap, at the index of the block's start: blocks are at least 32
 * bytes apart.
 *
 * The tables are opened in steps as the heap grows, and untouched pages are never resident. The
 * tables make an image of the process about half as large again as the heap. A step that a run
 * opened is cleared when a later run opens it.
 *
 * Blocks elsewhere: heap_outside.c. Names: heap_internal.h.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "base/hot_state.h"
#include "model/memory/fixed_addresses.h"
#include "runtime/filter.h"
#include "runtime/heap/heap_internal.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* Blocks above the window are not recorded. */
#define WINDOW_BYTES (UINT64_C(4) << 30)
#define STEP_BYTES (UINT64_C(1) << 20)
#define START_BYTES 16
#define RECORD_BYTES 32
#define LEVELS 4

/* Far from the kernel's addresses, near the contract, with guard pages between the tables. */
#define HEAP_ADDRESS ((char *)FIXED_TABLES)
#define GAP_BYTES 4096

HOT_STATE bool heap_is_recording; /* see heap.h */

/* Written by the moving thread. */
static HOT_STATE struct {
	uintptr_t base;	  /* start of the window */
	uintptr_t opened; /* the tables are open up to this address */
	bool is_busy;	  /* a signal handler has interrupted a call here */
	uint32_t run;
	uint64_t *levels[LEVELS];
	struct heap_record *records;
} heap;

/* Returns the end of the program's own data, where the heap begins. */
static uintptr_t heap_program_end(void)
{
	const ElfW(Phdr) *headers = (const ElfW(Phdr) *)getauxval(AT_PHDR);
	const size_t count = getauxval(AT_PHNUM);
	uintptr_t bias = 0, end = 0;

	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_PHDR)
			bias = (uintptr_t)headers - headers[i].p_vaddr;
	for (size_t i = 0; i < count; i++)
		if (headers[i].p_type == PT_LOAD &&
			bias + headers[i].p_vaddr + headers[i].p_memsz > end)
			end = bias + headers[i].p_vaddr + headers[i].p_memsz;
	return end & ~(uintptr_t)(STEP_BYTES - 1);
}

static bool heap_open(void *start, uint64_t bytes)
{
	const uintptr_t from = (uintptr_t)start & ~(uintptr_t)4095;

	return !platform_failed(platform_call(SYS_mprotect, from,
		(((uintptr_t)start + bytes + 4095) & ~(uintptr_t)4095) - from,
		PROT_READ | PROT_WRITE));
}

static void *heap_part(char **at, uint64_t bytes)
{
	void *part = *at;

	*at += ((bytes + 4095) & ~UINT64_C(4095)) + GAP_BYTES;
	return part;
}

static bool heap_map(void)
{
	uint64_t level_bytes = WINDOW_BYTES / START_BYTES / 8;
	char *at = HEAP_ADDRESS;
	struct heap_stream *streams;
	struct heap_outside *outside;
	uint16_t *heads;
	uint8_t *loops;
	bool is_open = true;

	if (platform_failed(platform_call(SYS_mmap, HEAP_ADDRESS, WINDOW_BYTES, PROT_NONE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0)))
		return false;
	streams = heap_part(&at, HEAP_STREAMS_MAX * sizeof *streams);
	is_open &= heap_open(streams, HEAP_STREAMS_MAX * sizeof *streams);
	heads = heap_part(&at, HEAP_STREAM_HEADS * sizeof *heads);
	is_open &= heap_open(heads, HEAP_STREAM_HEADS * sizeof *heads);
	heap_streams_set_up(streams, heads);
	outside = heap_part(&at, HEAP_OUTSIDE_MAX * sizeof *outside);
	is_open &= heap_open(outside, HEAP_OUTSIDE_MAX * sizeof *outside);
	heap_outside_set_up(outside);
	loops = heap_part(&at, HEAP_LOOPS);
	is_open &= heap_open(loops, HEAP_LOOPS);
	heap_loops_set_up(loops);
	for (unsigned level = 0; level < LEVELS; level++, level_bytes /= 64) {
		heap.levels[level] = heap_part(&at, level_bytes);
		if (level)
			is_open &= heap_open(heap.levels[level], level_bytes);
	}
	heap.records = heap_part(&at, WINDOW_BYTES / RECORD_BYTES * sizeof *heap.records);
	return is_open;
}

void heap_start_recording(void)
{
	ENTER();
	if (heap_is_recording || !heap_map())
		return;
	heap.base = heap.opened = heap_program_end();
	heap_is_recording = true;
}

void heap_begin_run(void)
{
	heap.run++;
}

static uint64_t heap_bit(uintptr_t address)
{
	return (address - heap.base) / START_BYTES;
}

static struct heap_record *heap_record(uintptr_t start)
{
	return &heap.records[(start - heap.base) / RECORD_BYTES];
}

/* Sets a bit and the bits above it in the tree. If one is set already, all bits above it are set,
 * too. */
static void heap_set_bit(uint64_t bit)
{
	for (unsigned level = 0; level < LEVELS; level++, bit /= 64) {
		uint64_t *word = &heap.levels[level][bit / 64];
		const uint64_t before = *word, mask = UINT64_C(1) << bit % 64;

		/* Usually set, because a block reuses another's part: avoids a stall. */
		if (before & mask)
			return;
		*word = before | mask;
	}
}

static void heap_clear_bits(uint64_t first, uint64_t end)
{
	for (uint64_t word = first / 64; word * 64 < end; word++) {
		uint64_t mask = ~UINT64_C(0);
		uint64_t upper = word;

		if (word == first / 64)
			mask <<= first % 64;
		if (word == end / 64)
			mask &= ~(~UINT64_C(0) << end % 64);
		if (!(heap.levels[0][word] & mask))
			continue;
		heap.levels[0][word] &= ~mask;
		for (unsigned level = 1; level < LEVELS && !heap.levels[level - 1][upper];
			level++, upper /= 64)
			heap.levels[level][upper / 64] &= ~(UINT64_C(1) << upper % 64);
	}
}

/* Finds the last bit of the lowest level that is set at or before `bit`. */
static bool heap_last_bit(uint64_t bit, uint64_t *found)
{
	unsigned level = 0;
	uint64_t word = bit / 64;
	uint64_t bits = heap.levels[0][word] & ~UINT64_C(0) >> (63 - bit % 64);

	while (!bits) { /* up, to the words before this one */
		if (++level == LEVELS || !word)
			return false;
		bit = word - 1;
		word = bit / 64;
		bits = heap.levels[level][word] & ~UINT64_C(0) >> (63 - bit % 64);
		if (level == LEVELS - 1)
			while (!bits && word)
				bits = heap.levels[level][--word];
	}
	for (;;) {
		bit = word * 64 + 63 - (unsigned)__builtin_clzll(bits);
		if (!level)
			break;
		word = bit;
		bits = heap.levels[--level][word];
	}
	*found = bit;
	return true;
}

/* Opens the tables up to this address. Returns false if outside of the window. */
static bool heap_reach(uintptr_t end)
{
	if (end <= heap.opened)
		return true;
	if (end - heap.base > WINDOW_BYTES)
		return false;
	while (heap.opened < end) {
		uint64_t *words = &heap.levels[0][heap_bit(heap.opened) / 64];
		const uint64_t bytes = STEP_BYTES / START_BYTES / 8;

		if (!heap_open(words, bytes) ||
			!heap_open(heap_record(heap.opened),
				STEP_BYTES / RECORD_BYTES * sizeof(struct heap_record)))
			return false;
		memset(words, 0, bytes); /* an earlier run may have written them */
		heap.opened += STEP_BYTES;
	}
	return true;
}

void heap_prepare(uintptr_t end)
{
	if (heap_is_recording)
		(void)heap_reach(end);
}

static bool heap_is_window(uintptr_t address)
{
	return address - heap.base < WINDOW_BYTES;
}

static struct heap_block heap_describe(
	uintptr_t start, size_t bytes, const struct heap_record *record)
{
	const struct heap_stream *stream = heap_stream(record->stream);

	return (struct heap_block){.start = start,
		.bytes = bytes,
		.name = record->name,
		.site = stream->site,
		.thread = stream->thread,
		.ordinal = record->ordinal,
		.loop = record->loop,
		.is_used = record->is_used,
		.is_freed = record->is_freed};
}

static bool heap_find_record(
	uintptr_t address, uintptr_t *start, size_t *bytes, struct heap_record **record);

/* Invalidates cached names of the new block's memory, and of the block that covered its start. */
static void heap_rename(uintptr_t start, size_t bytes)
{
	struct heap_record *record;
	uintptr_t old_start;
	size_t old_bytes;

	if (heap_find_record(start, &old_start, &old_bytes, &record) &&
		(old_start != start || old_bytes > bytes))
		memory_renamed(old_start, old_bytes);
	memory_renamed(start, bytes);
}

static void heap_put(uintptr_t start, size_t bytes, struct heap_record record)
{
	struct heap_block block;

	bytes = bytes ? bytes : 1; /* an empty block has an address of its own */
	heap_rename(start, bytes);
	record.bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
	record.is_freed = record.is_used = false;
	if (!heap_is_window(start)) {
		memory_renamed(0, SIZE_MAX);
		heap_outside_add(&(struct heap_outside){start, bytes, record});
	} else if (heap_reach(start + bytes + START_BYTES)) {
		/* Marks the block with glibc's size word behind it. Clears the bits of freed blocks
		 * in this range, and a bit that shares the record. */
		const uint64_t bit = heap_bit(start);
		const uint64_t end = heap_bit(start + bytes + 8 + START_BYTES - 1);

		heap_clear_bits(bit + 1, end > bit + 2 ? end : bit + 2);
		heap_clear_bits(bit & ~UINT64_C(1), bit);
		heap_set_bit(heap_bit(start));
		*heap_record(start) = record;
	} else {
		return;
	}
	block = heap_describe(start, bytes, &record);
	heap_blocks_made(&block, heap_stream(record.stream)->kind);
	filter_add_block(&block);
}

void heap_made(const void *start, size_t bytes, uint64_t site, uint8_t kind)
{
	if (heap.is_busy)
		return;
	heap.is_busy = true;
	heap_put((uintptr_t)start, bytes, heap_new_record(site, kind, heap.run));
	heap.is_busy = false;
}

/* Record of the block at the address, freed or not; returns NULL if unknown. */
static struct heap_record *heap_record_of(uintptr_t start)
{
	struct heap_outside *block;

	if (heap_is_window(start)) {
		const uint64_t bit = heap_bit(start);

		return start < heap.opened && heap.levels[0][bit / 64] >> bit % 64 & 1
			       ? heap_record(start)
			       : NULL;
	}
	block = heap_outside_find(start);
	return block && block->start == start ? &block->record : NULL;
}

static void heap_forget(uintptr_t start, uint64_t site)
{
	struct heap_record *record = heap_record_of(start);

	if (!record || record->is_freed)
		return;
	record->is_freed = true;
	heap_blocks_freed(start);
	if (heap_is_window(start)) {
		heap_frees_note(start, site, heap.run + 1);
		if (record->is_used)
			memory_renamed(start, record->bytes);
		return;
	}
	memory_renamed(0, SIZE_MAX);
	heap_outside_remove(start); /* the kernel gets its memory back */
}

void heap_freed(const void *start, uint64_t site)
{
	if (heap.is_busy)
		return;
	heap.is_busy = true;
	heap_forget((uintptr_t)start, site);
	heap.is_busy = false;
}

void heap_moved(const void *from, const void *to, size_t bytes, uint64_t site)
{
	const struct heap_record *known;
	struct heap_record record;

	if (heap.is_busy)
		return;
	heap.is_busy = true;
	known = heap_record_of((uintptr_t)from);
	record = known ? *known : heap_new_record(site, BLOCK_REALLOC, heap.run);
	heap_forget((uintptr_t)from, site);
	heap_put((uintptr_t)to, bytes, record);
	heap.is_busy = false;
}

static bool heap_find_record(
	uintptr_t address, uintptr_t *start, size_t *bytes, struct heap_record **record)
{
	struct heap_outside *block;
	uint64_t bit;

	if (heap_is_window(address)) {
		if (address >= heap.opened || !heap_last_bit(heap_bit(address), &bit))
			return false;
		*start = heap.base + bit * START_BYTES;
		*record = heap_record(*start);
		*bytes = (*record)->bytes < UINT32_MAX ? (*record)->bytes : SIZE_MAX;
		return address - *start < *bytes;
	}
	block = heap_outside_find(address);
	if (!block)
		return false;
	*start = block->start;
	*bytes = block->bytes;
	*record = &block->record;
	return true;
}

void heap_each(void (*visit)(const struct heap_block *block))
{
	const struct heap_outside *outside;
	uint32_t count;

	if (!heap_is_recording)
		return;
	for (uint64_t word = 0; word < heap_bit(heap.opened) / 64; word++)
		for (uint64_t rest = heap.levels[0][word]; rest; rest &= rest - 1) {
			const uint64_t bit = word * 64 + (uint64_t)__builtin_ctzll(rest);
			const uintptr_t start = heap.base + bit * START_BYTES;
			const struct heap_record *record = heap_record(start);
			const struct heap_block block = heap_describe(start, record->bytes, record);

			visit(&block);
		}
	outside = heap_outside_all(&count);
	for (uint32_t i = 0; i < count; i++) {
		const struct heap_block block =
			heap_describe(outside[i].start, outside[i].bytes, &outside[i].record);

		visit(&block);
	}
}

bool heap_find_any(const void *address, struct heap_block *out)
{
	struct heap_record *record;
	uintptr_t start;
	size_t bytes;

	if (!heap_is_recording || !heap_find_record((uintptr_t)address, &start, &bytes, &record))
		return false;
	record->is_used = true;
	*out = heap_describe(start, bytes, record);
	return true;
}

bool heap_find(const void *address, struct heap_block *out)
{
	struct heap_record *record;
	uintptr_t start;
	size_t bytes;

	if (!heap_is_recording || !heap_find_record((uintptr_t)address, &start, &bytes, &record) ||
		record->is_freed)
		return false;
	*out = heap_describe(start, bytes, record);
	return true;
}

__attribute__((noinline)) static bool heap_find_freed(const void *address, struct heap_free *out)
{
	struct heap_record *record;
	uintptr_t start;
	size_t bytes;

	return heap_frees_any(heap.run + 1) &&
	       heap_find_record((uintptr_t)address, &start, &bytes, &record) && record->is_freed &&
	       heap_frees_find(start, heap.run + 1, out);
}

bool heap_was_freed(const void *address, struct heap_free *out)
{
	return heap_is_window((uintptr_t)address) && heap_find_freed(address, out);
}
