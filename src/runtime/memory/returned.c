#include "runtime/returned.h"

#include <malloc.h>
#include <string.h>

#include "engine/sync.h"
#include "model/memory/freed_word.h"
#include "runtime/guarded_read.h"
#include "runtime/interpose.h"
#include "runtime/memory/memory_internal.h"
#include "runtime/record.h"
#include "runtime/runtime.h"

void __libc_free(void *block);

#define BLOCKS 64
#define LINES 1024
/* A line holds the start of at most one block, because two glibc blocks are at least this far
 * apart. */
#define LINE_BYTES 32
/* glibc maps larger blocks, whose address any mapping may reuse. */
#define BYTES_MOST (64 << 10)
/* Larger blocks are not held: a run would touch many pages, which the restart must restore. */
#define HELD_MOST 1024
/* Bytes of all blocks of a run that leave their place: each page that they touch has to be restored. */
#define MOVED_MOST (16 << 10)
/* Pointers of an object are near its beginning, and the search for them takes a nanosecond a word. */
#define SPOILED_MOST 256
#define MARK_WORDS 2

struct returned_block {
	uintptr_t start;
	uint64_t site;
	uint64_t step;
	uint32_t bytes; /* 0: the memory was reused, at least in part */
	struct thread_id thread;
	uint8_t op; /* OP_STORE: freed; else the op that destroyed this object */
	bool is_held;
};

/* latest[line % LINES] is 1 + the index of the block freed last in that line. Uses and allocations
 * look up by the line alone, so both find the same entry. */
static struct {
	struct returned_block blocks[BLOCKS];
	uint8_t latest[LINES];
	uint32_t count;
	uint32_t moved_bytes;
	bool is_busy; /* a signal handler has interrupted a call here */
	bool has_held;
} returned __attribute__((aligned(4096)));

/* AddressSanitizer's shadow of the heap (compiler-rt/lib/asan/asan_internal.h, asan_mapping.h): one
 * byte per 2^scale bytes. It marks freed blocks in quarantine: a certain answer, also for blocks
 * not known here. */
#define SHADOW_FREED 0xfd
struct shadow {
	bool is_searched;
	size_t scale; /* 0: no shadow memory */
	size_t offset;
};
static struct shadow shadow; /* the first run writes it once */

static bool returned_shadow_says_freed(uintptr_t address)
{
	uint64_t value;

	return guarded_read((const void *)((address >> shadow.scale) + shadow.offset), 1, &value) &&
	       value == SHADOW_FREED;
}

void returned_look_for_shadow(void)
{
	if (!shadow.is_searched) {
		shadow.is_searched = true;
		if (runtime.sanitizer_shadow)
			runtime.sanitizer_shadow(&shadow.scale, &shadow.offset);
	}
	if (shadow.scale)
		engine_watch_uses();
}

static bool returned_is_wanted(void)
{
	return memory_is_watched() && !returned.is_busy;
}

void returned_begin_run(void)
{
	returned.is_busy = false;
	/* Clearing takes longer than the rest of a short run's start, and most runs have noted no freed block. */
	if (returned.count || returned.moved_bytes)
		memset(&returned, 0, sizeof returned);
}

static struct returned_block *returned_find(uintptr_t address)
{
	const uint8_t latest = returned.latest[address / LINE_BYTES % LINES];
	struct returned_block *block = latest ? &returned.blocks[latest - 1] : NULL;

	return block && address - block->start < block->bytes ? block : NULL;
}

/* Ends the run with a verdict. `block` NULL: the freeing thread is unknown. */
static void returned_report(const struct returned_block *block, enum outcome_kind kind,
	uintptr_t address, uint64_t site, enum op_kind op)
{
	struct outcome verdict;

	outcome_set(&verdict, kind, engine_current()->id, 0);
	verdict.site = site;
	verdict.op = (uint8_t)op;
	verdict.address = address;
	verdict.other_op = block ? block->op : OP_STORE;
	if (block) {
		verdict.other_site = block->site;
		verdict.other_step = block->step;
		verdict.other_thread = block->thread;
	} else {
		verdict.other_thread = THREAD_NONE;
	}
	engine_fail_by_verdict(&verdict);
}

/* Returns whether free() is glibc's. Other allocators may reuse memory without a call that the
 * runtime sees. */
static bool returned_is_freed_by_glibc(void)
{
	return (uintptr_t)REAL(free) == (uintptr_t)__libc_free;
}

/* Marks the lines of memory [line, end) as part of the next block. */
static void returned_mark(uintptr_t line, uintptr_t end)
{
	const uint8_t number = (uint8_t)(returned.count % BLOCKS + 1);

	while (line < end) {
		const uintptr_t at = line % LINES;
		const uintptr_t count = end - line < LINES - at ? end - line : LINES - at;

		memset(returned.latest + at, number, count);
		line += count;
	}
}

static struct returned_block *returned_add(
	uintptr_t start, size_t bytes, uint64_t site, enum op_kind op)
{
	struct returned_block *block = &returned.blocks[returned.count % BLOCKS];

	returned.is_busy = true;
	if (block->is_held)
		REAL(free)((void *)block->start);
	*block = (struct returned_block){.start = start,
		.site = site,
		.step = engine_step(),
		.bytes = (uint32_t)bytes,
		.thread = engine_current()->id,
		.op = (uint8_t)op};
	returned_mark(start / LINE_BYTES, (start + bytes - 1) / LINE_BYTES + 1);
	returned.count++;
	returned.is_busy = false;
	engine_watch_uses();
	return block;
}

void returned_note_destroyed(const struct engine_op *op, size_t bytes)
{
	if (returned_is_wanted())
		(void)returned_add((uintptr_t)op->address, bytes, op->site, (enum op_kind)op->kind);
}

/* Returns whether the word is an address where Linux puts position-independent programs, their heap, libraries or
 * stacks. Two small numbers side by side are none. */
static bool returned_is_pointer(uint64_t word)
{
	const uint64_t region = word >> 40;

	return region == 0x55 || region == 0x56 || region == 0x7e || region == 0x7f;
}

/* Another thread that uses the block must not find its old pointers, or a new object, there. The allocator would
 * overwrite the first two words in any case; in a block that is held they are a mark. */
static void returned_hold(struct returned_block *block)
{
	const size_t bytes = block->bytes < SPOILED_MOST ? block->bytes : SPOILED_MOST;
	uint64_t *words = (uint64_t *)block->start;

	block->is_held = block->bytes <= HELD_MOST;
	returned.has_held |= block->is_held;
	for (size_t at = 0; at < bytes / sizeof *words; at++)
		if (returned_is_pointer(words[at]) || (at < MARK_WORDS && block->is_held))
			words[at] = FREED_WORD;
}

/* Returns the block that is freed a second time; NULL if it is freed for the first time, or not known. */
static struct returned_block *returned_find_freed(uintptr_t start)
{
	struct returned_block *known = returned_find(start);
	const uint64_t *words = (const uint64_t *)start;

	if (known && known->start == start && known->op == OP_STORE)
		return known;
	/* A later block may have taken the line of a block that is held. */
	if (returned.has_held && words[MARK_WORDS - 1] == FREED_WORD)
		for (known = returned.blocks; known < returned.blocks + BLOCKS; known++)
			if (known->is_held && known->start == start)
				return known;
	return NULL;
}

static bool returned_is_use_a_failure(void)
{
	return engine_live_count() > 1 && !shadow.scale &&
	       !(runtime.contract->plan.tolerated >> OUTCOME_USE_AFTER_FREE & 1);
}

bool returned_note(void *block, uint64_t site)
{
	const uintptr_t start = (uintptr_t)block;
	struct returned_block *known;
	size_t bytes;

	if (!block || !returned_is_wanted() || !(shadow.scale || returned_is_freed_by_glibc()))
		return false;
	if (shadow.scale && returned_shadow_says_freed(start))
		return false; /* AddressSanitizer has the better report */
	known = shadow.scale ? NULL : returned_find_freed(start);
	if (known) {
		if (!record_is_on())
			returned_report(known, OUTCOME_DOUBLE_FREE, start, site - 1, OP_STORE);
		return known->is_held;
	}
	bytes = malloc_usable_size(block);
	if (!bytes || bytes > BYTES_MOST)
		return false;
	known = returned_add(start, bytes, site, OP_STORE);
	if (returned_is_use_a_failure())
		returned_hold(known);
	return known->is_held;
}

bool returned_moves(void *block, size_t bytes)
{
	size_t old_bytes;

	if (!block || returned.moved_bytes == MOVED_MOST || !returned_is_wanted() ||
		!returned_is_use_a_failure() || !returned_is_freed_by_glibc())
		return false;
	old_bytes = malloc_usable_size(block);
	if (old_bytes >= bytes)
		return false;
	if (old_bytes > MOVED_MOST - returned.moved_bytes) {
		returned.moved_bytes = MOVED_MOST;
		return false;
	}
	returned.moved_bytes += (uint32_t)old_bytes;
	return true;
}

void returned_given_out(const void *block, size_t bytes)
{
	const uintptr_t start = (uintptr_t)block;
	const uintptr_t end = start + (bytes ? bytes : 1);
	uintptr_t line = start / LINE_BYTES;
	struct returned_block *same;

	if (!returned.count || !block)
		return;
	same = returned_find(start);
	if (same && end <= same->start + same->bytes) {
		same->bytes = 0; /* known blocks do not overlap, so no other one is affected */
		return;
	}
	for (uint32_t i = 0; i < LINES && line * LINE_BYTES < end; i++, line++) {
		const uint8_t latest = returned.latest[line % LINES];
		struct returned_block *known = latest ? &returned.blocks[latest - 1] : NULL;

		if (known && known->start < end && start < known->start + known->bytes)
			known->bytes = 0;
	}
}

/* The memory of a destroyed object may hold a new one, whose initialiser makes no call. */
static bool returned_is_new_object(const struct returned_block *block)
{
	union {
		uint64_t words[sizeof(struct rwlock) / sizeof(uint64_t)];
		struct mutex mutex;
		struct cond cond;
		struct rwlock rwlock;
	} copy;

	for (uint32_t i = 0; i < block->bytes / sizeof *copy.words; i++)
		if (!guarded_read(
			    (const uint64_t *)block->start + i, sizeof *copy.words, &copy.words[i]))
			return false;
	switch (block->op) {
	case OP_MUTEX_DESTROY:
		return copy.mutex.kind >= 0;
	case OP_COND_DESTROY:
		return cond_is_new(&copy.cond);
	default:
		return rwlock_is_new(&copy.rwlock);
	}
}

/* The first use of a new object at this address ends the old one. One thread alone may rely on what a
 * C library does with a destroyed object. */
static void returned_check_destroyed(struct returned_block *block, const struct engine_op *op)
{
	if ((uintptr_t)op->address != block->start ||
		op_descriptions[op->kind].object != op_descriptions[block->op].object ||
		returned_is_new_object(block))
		block->bytes = 0;
	else if (!thread_same(block->thread, engine_current()->id))
		returned_report(block, OUTCOME_USE_AFTER_FREE, (uintptr_t)op->address, op->site,
			(enum op_kind)op->kind);
}

void returned_check_use(const struct engine_op *op)
{
	struct returned_block *block;

	if (!op->address || !(returned.count || shadow.scale) || !returned_is_wanted() ||
		record_is_on())
		return;
	block = returned_find((uintptr_t)op->address);
	if (block && block->op != OP_STORE)
		returned_check_destroyed(block, op);
	else if (shadow.scale ? returned_shadow_says_freed((uintptr_t)op->address) : block != NULL)
		returned_report(block, OUTCOME_USE_AFTER_FREE, (uintptr_t)op->address, op->site,
			(enum op_kind)op->kind);
}
