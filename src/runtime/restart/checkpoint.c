#include "runtime/restart/checkpoint.h"

#include <sys/mman.h>
#include <sys/syscall.h>

#include "engine/engine.h"
#include "runtime/restart/image_internal.h"
#include "runtime/restart/image_versions.h"
#include "runtime/runtime.h"
#include "runtime/undo.h"

#define CHECKPOINTS_MAX 512
/* Limit for the run's own mappings together, in pages. */
#define OWN_PAGES_MAX (UINT32_C(1) << 18)

/* Bytes that are no page of the image: part of a stack, an engine table, a page of the run. */
struct checkpoint_piece {
	char *start;
	uint64_t bytes;
	struct checkpoint_piece *next;
	char content[];
};

struct checkpoint {
	struct checkpoint_position position;
	struct image_point point;
	uint64_t uses;	      /* runs that began here */
	uint64_t memory_used; /* before this checkpoint */
	uint32_t versions;    /* last version of its chain */
	struct checkpoint_piece *pieces;
	struct undo_memory *own; /* memory that the starting point does not have */
	uint32_t segments;	 /* length of the recorded schedule at this point */
	uint64_t steps;
	bool is_truncated;
	/* The run extends that segment later. */
	struct schedule_segment last_segment;
};

struct checkpoints {
	struct image *image;
	struct image_memory memory;
	uint64_t sealed; /* the words of `memory` below this one are read-only */
	uint32_t count;
	struct checkpoint stack[CHECKPOINTS_MAX];
	unsigned char residency[OWN_PAGES_MAX];
};

struct checkpoints *checkpoints_new(uint64_t bytes)
{
	struct checkpoints *checkpoints = platform_map(sizeof *checkpoints, true);

	if (!checkpoints)
		return NULL;
	checkpoints->memory.capacity = bytes / PAGE_BYTES * (PAGE_BYTES / sizeof(uint64_t));
	checkpoints->memory.start = platform_map(bytes, true);
	if (checkpoints->memory.start)
		return checkpoints;
	platform_unmap(checkpoints, sizeof *checkpoints);
	return NULL;
}

/* Makes free memory writable that held checkpoints. Several of them may have been dropped. */
static void checkpoint_unseal(struct checkpoints *checkpoints)
{
	const struct image_memory *memory = &checkpoints->memory;

	if (checkpoints->sealed <= memory->used)
		return;
	platform_unseal(memory->start + memory->used * sizeof(uint64_t),
		(checkpoints->sealed - memory->used) * sizeof(uint64_t));
	checkpoints->sealed = memory->used;
}

/* Makes the memory of the newest checkpoint read-only. The next checkpoint begins at a page of its own. */
static void checkpoint_seal(struct checkpoints *checkpoints, const struct checkpoint *checkpoint)
{
	struct image_memory *memory = &checkpoints->memory;
	const uint64_t page_words = PAGE_BYTES / sizeof(uint64_t);

	memory->used = (memory->used + page_words - 1) / page_words * page_words;
	platform_seal(memory->start + checkpoint->memory_used * sizeof(uint64_t),
		(memory->used - checkpoint->memory_used) * sizeof(uint64_t));
	checkpoints->sealed = memory->used;
}

void checkpoints_begin(struct checkpoints *checkpoints, struct image *image)
{
	checkpoints->image = image;
	checkpoints->count = 0;
	checkpoints->memory.used = 0;
}

/* The checkpoint being taken. `is_complete`: everything has found room so far. */
struct collection {
	struct checkpoints *checkpoints;
	struct checkpoint *checkpoint;
	bool is_complete;
};

static void checkpoint_keep_piece(void *argument, void *start, size_t bytes)
{
	struct collection *collection = argument;
	struct checkpoint_piece *piece =
		image_memory_take(&collection->checkpoints->memory, sizeof *piece + bytes);

	if (!piece) {
		collection->is_complete = false;
		return;
	}
	*piece = (struct checkpoint_piece){
		.start = start, .bytes = bytes, .next = collection->checkpoint->pieces};
	platform_copy(piece->content, start, bytes);
	collection->checkpoint->pieces = piece;
}

static bool checkpoint_is_own(const struct undo_memory *own, const char *pointer)
{
	const uintptr_t at = (uintptr_t)pointer;

	for (uint32_t i = 0; i < own->range_count; i++)
		if (at >= own->ranges[i].start && at < own->ranges[i].end)
			return true;
	return at >= undo_program_break() && at < (uintptr_t)own->program_break;
}

/* Finds the lowest mapped page: main's stack grows on demand. */
static char *checkpoint_stack_bottom(const struct image_stack *stack, char *page)
{
	unsigned char residency;

	while (page > stack->floor && !platform_failed(platform_call(SYS_mincore, page - PAGE_BYTES,
					      PAGE_BYTES, &residency)))
		page -= PAGE_BYTES;
	return page;
}

/* Keeps every touched page of a stack whose used part is unknown. */
static void checkpoint_keep_whole_stack(
	struct collection *collection, const struct image_stack *stack)
{
	char *top = (char *)((uintptr_t)stack->end & ~(uintptr_t)(PAGE_BYTES - 1));
	char *bottom = stack->floor;
	unsigned char *residency = collection->checkpoints->residency;
	const size_t most = OWN_PAGES_MAX * PAGE_BYTES;

	if (top < stack->end)
		checkpoint_keep_piece(collection, top, (size_t)(stack->end - top));
	if ((size_t)(top - bottom) > most ||
		platform_failed(platform_call(SYS_mincore, bottom, top - bottom, residency))) {
		bottom = checkpoint_stack_bottom(stack, top);
		(void)platform_call(SYS_mincore, bottom, top - bottom, residency);
	}
	for (size_t page = 0; page < (size_t)(top - bottom) / PAGE_BYTES; page++)
		if (residency[page] & 1)
			checkpoint_keep_piece(collection, bottom + page * PAGE_BYTES, PAGE_BYTES);
}

/* Keeps the part in use since the starting point. A thread that runs on other memory (coroutines,
 * signal handlers) still has frames on its own stack. */
static void checkpoint_keep_stack(
	struct collection *collection, const struct engine_thread *thread, const void *pointer)
{
	const struct image *image = collection->checkpoints->image;
	const char *home = fiber_stack_of(thread);
	const uint32_t pool_index = fiber_index_of(thread);
	char *low = (char *)(uintptr_t)pointer - STACK_MARGIN_BYTES;
	struct image_stack stack, own;
	const enum image_whereabouts whereabouts = image_find(image, low, &stack);
	const bool has_own =
		image_find(image, home ? home : image_main_stack(image), &own) == IMAGE_STACK;
	const bool is_at_home = has_own && whereabouts == IMAGE_STACK && stack.end == own.end;

	if (pool_index != FIBER_NOT_POOLED)
		bitset_add(collection->checkpoint->point.alive, pool_index);
	if (is_at_home && low < own.end)
		checkpoint_keep_piece(collection, low, (size_t)(own.end - low));
	else if (!is_at_home && has_own)
		checkpoint_keep_whole_stack(collection, &own);
	if (!is_at_home && whereabouts != IMAGE_MEMORY &&
		!checkpoint_is_own(collection->checkpoint->own, low))
		collection->is_complete = false;
}

static void checkpoint_keep_stacks(struct collection *collection)
{
	const struct engine_thread *moving = engine_current();

	checkpoint_keep_stack(
		collection, moving, collection->checkpoint->position.context.stack_pointer);
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		const struct engine_thread *thread = engine_thread(i);

		if (thread->state == THREAD_ALIVE && thread != moving)
			checkpoint_keep_stack(collection, thread, thread->context.stack_pointer);
	}
}

static void checkpoint_keep_range(struct collection *collection, const struct undo_range *range)
{
	const size_t pages = (range->end - range->start) / PAGE_BYTES;
	unsigned char *residency = collection->checkpoints->residency;

	if (pages > OWN_PAGES_MAX || platform_failed(platform_call(SYS_mincore, range->start,
					     pages * PAGE_BYTES, residency)))
		collection->is_complete = false;
	for (size_t page = 0; page < pages && collection->is_complete; page++)
		if (residency[page] & 1)
			checkpoint_keep_piece(
				collection, (char *)range->start + page * PAGE_BYTES, PAGE_BYTES);
}

static struct undo_range checkpoint_grown_heap(const struct undo_memory *own)
{
	return (struct undo_range){(undo_program_break() + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1),
		((uintptr_t)own->program_break + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1)};
}

static void checkpoint_keep_own(struct collection *collection)
{
	const struct undo_memory *own = collection->checkpoint->own;
	const struct undo_range heap = checkpoint_grown_heap(own);

	for (uint32_t i = 0; i < own->range_count; i++)
		checkpoint_keep_range(collection, &own->ranges[i]);
	if (heap.end > heap.start)
		checkpoint_keep_range(collection, &heap);
}

static void checkpoint_note_schedule(
	struct checkpoint *checkpoint, const struct schedule *recording)
{
	checkpoint->segments = recording->count;
	checkpoint->steps = recording->step_count;
	checkpoint->is_truncated = recording->is_truncated;
	if (recording->count)
		checkpoint->last_segment = recording->segments[recording->count - 1];
}

void checkpoints_drop(struct checkpoints *checkpoints)
{
	const struct checkpoint *last = &checkpoints->stack[--checkpoints->count];

	image_drop_versions(checkpoints->image, last->versions);
	checkpoints->memory.used = last->memory_used;
}

bool checkpoint_take(struct checkpoints *checkpoints, const struct checkpoint_position *position,
	const struct schedule *recording)
{
	struct checkpoint *checkpoint = &checkpoints->stack[checkpoints->count];
	struct collection collection = {checkpoints, checkpoint, true};
	const struct image_point *before;

	if (checkpoints->count == CHECKPOINTS_MAX)
		return false;
	*checkpoint = (struct checkpoint){.position = *position,
		.point.time = fiber_time(),
		.memory_used = checkpoints->memory.used};
	before = checkpoints->count ? &checkpoint[-1].point : NULL;
	checkpoints->count++;
	checkpoint_unseal(checkpoints);
	checkpoint->own = image_memory_take(&checkpoints->memory, sizeof *checkpoint->own);
	if (!checkpoint->own || !undo_note_memory_of_run(checkpoint->own)) {
		checkpoints_drop(checkpoints);
		return false;
	}
	checkpoint_keep_stacks(&collection);
	engine_each_saved(checkpoint_keep_piece, &collection);
	checkpoint_keep_own(&collection);
	checkpoint_note_schedule(checkpoint, recording);
	if (!collection.is_complete ||
		!image_keep_versions(
			checkpoints->image, &checkpoints->memory, before, &checkpoint->versions)) {
		checkpoints_drop(checkpoints);
		return false;
	}
	checkpoint_seal(checkpoints, checkpoint);
	return true;
}

const struct checkpoint_position *checkpoints_last(struct checkpoints *checkpoints)
{
	return checkpoints->count ? &checkpoints->stack[checkpoints->count - 1].position : NULL;
}

void checkpoints_count_use(struct checkpoints *checkpoints)
{
	checkpoints->stack[checkpoints->count - 1].uses++;
}

uint64_t checkpoints_saved(const struct checkpoints *checkpoints)
{
	const struct checkpoint *last = &checkpoints->stack[checkpoints->count - 1];

	return last->uses *
	       (last->position.ticks - (checkpoints->count > 1 ? last[-1].position.ticks : 0));
}

/* Clears pages without a copy, which were not resident and read as zero. */
static void checkpoint_clear_own(const struct undo_memory *own)
{
	const struct undo_range heap = checkpoint_grown_heap(own);

	for (uint32_t i = 0; i < own->range_count; i++)
		(void)platform_call(SYS_madvise, own->ranges[i].start,
			own->ranges[i].end - own->ranges[i].start, MADV_DONTNEED);
	if (heap.end > heap.start)
		(void)platform_call(SYS_madvise, heap.start, heap.end - heap.start, MADV_DONTNEED);
}

static void checkpoint_restore_schedule(
	const struct checkpoint *checkpoint, struct schedule *recording)
{
	recording->count = checkpoint->segments;
	recording->step_count = checkpoint->steps;
	recording->is_truncated = checkpoint->is_truncated;
	if (recording->count)
		recording->segments[recording->count - 1] = checkpoint->last_segment;
}

bool checkpoints_restore(
	struct checkpoints *checkpoints, struct schedule *recording, uint64_t *pages)
{
	const struct checkpoint *last =
		checkpoints->count ? &checkpoints->stack[checkpoints->count - 1] : NULL;
	bool is_complete = undo_memory(last ? last->own : NULL);
	bool is_restored;

	*pages += image_restore(checkpoints->image, last ? &last->point : NULL, &is_restored);
	if (!last)
		return is_complete && is_restored;
	checkpoint_clear_own(last->own);
	for (const struct checkpoint_piece *piece = last->pieces; piece; piece = piece->next)
		platform_copy(piece->start, piece->content, piece->bytes);
	checkpoint_restore_schedule(last, recording);
	return is_complete && is_restored;
}
