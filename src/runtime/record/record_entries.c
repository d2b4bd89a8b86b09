/* The record's entries (branches/record/record.h). Each thread appends to chunks of its own, and
 * has its own copy of memory. */
#include <sys/mman.h>
#include <sys/syscall.h>

#include "platform/platform.h"
#include "runtime/record.h"
#include "runtime/record/record_internal.h"
#include "runtime/runtime.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

struct record_state record_state;

void record_have_emptied(void)
{
	struct record_area *area = record_state.area;

	/* Release: pairs with the command's load */
	__atomic_store_n(&area->is_waiting, 1, __ATOMIC_RELEASE);
	runtime_ring();
	/* Acquire: the command owns the chunks until it clears the flag. */
	while (__atomic_load_n(&area->is_waiting, __ATOMIC_ACQUIRE))
		platform_futex_wait(&area->is_waiting, 1, UINT64_MAX, true);
	area->filled = 0;
}

static bool record_entries_has_room(const struct record_area *area)
{
	return area->used <= area->room && area->bytes - area->used >= RECORD_CHUNK_BYTES;
}

/* Populates the next chunk's pages: a thread that filled one chunk fills the next. */
static void record_entries_make_pages(void *chunk)
{
	static uintptr_t end; /* end of the populated pages */

	if ((uintptr_t)chunk < end)
		return;
	end = (uintptr_t)chunk + RECORD_CHUNK_BYTES;
	(void)platform_call(SYS_madvise, (uintptr_t)chunk, RECORD_CHUNK_BYTES, MADV_POPULATE_WRITE);
}

static void record_entries_publish_used(const struct record_thread *thread)
{
	char *last = (char *)record_state.area + thread->last;

	if (thread->last)
		((struct record_chunk *)last)->used =
			(uint64_t)(thread->at - (uint8_t *)last - sizeof(struct record_chunk));
}

void record_close(struct record_thread *thread)
{
	record_entries_publish_used(thread);
	thread->last = 0;
	thread->at = thread->end = NULL;
}

bool record_more(struct record_thread *thread)
{
	struct record_area *area = record_state.area;
	struct record_chunk *chunk;
	char *base = (char *)area;

	area->filled += thread->last != 0;
	if (area->is_emptied && !area->is_full &&
		(!record_entries_has_room(area) || area->filled >= RECORD_FILLED_MOST))
		record_have_emptied();
	record_entries_publish_used(thread);
	if (area->is_full || !record_entries_has_room(area)) {
		area->is_full = 1;
		return false;
	}
	chunk = (struct record_chunk *)(base + area->used);
	if (area->filled)
		record_entries_make_pages(chunk);
	chunk->next = 0; /* the area may hold an older link */
	if (thread->last)
		((struct record_chunk *)(base + thread->last))->next = area->used;
	else
		thread->first = area->used;
	thread->last = area->used;
	area->used += RECORD_CHUNK_BYTES;
	thread->at = (uint8_t *)(chunk + 1);
	thread->end = (uint8_t *)chunk + RECORD_CHUNK_BYTES;
	return true;
}

void record_park(struct record_moving *moving)
{
	struct record_parked *parked = &record_state.parked[moving->index];

	moving->thread->predicted += (uint64_t)(moving->mark - moving->left);
	moving->mark = moving->left;
	parked->pending = moving->pending;
	parked->pending_bytes = moving->pending_bytes;
	parked->wants_arguments = moving->wants_arguments;
	parked->entered = moving->entered;
	parked->copied_from = moving->copied_from;
}

/* Maps the copy of memory when the thread first runs; most pages stay untouched. */
void record_resume_thread(uint32_t index)
{
	struct record_moving *moving = record_state.moving;
	struct record_parked *parked = &record_state.parked[index];

	if (moving->thread)
		record_park(moving);
	if (!parked->memory) {
		parked->memory = platform_map(RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK +
						      RECORD_VALUES * sizeof(uint64_t),
			false);
		if (!parked->memory)
			runtime_refuse("there is no memory for the record of a thread");
		parked->values =
			(uint64_t *)(parked->memory + RECORD_MEMORY_BYTES + RECORD_MEMORY_SLACK);
	}
	moving->index = index;
	moving->thread = &record_state.area->threads[index];
	moving->pending = parked->pending;
	moving->pending_bytes = parked->pending_bytes;
	moving->wants_arguments = parked->wants_arguments;
	moving->entered = parked->entered;
	moving->copied_from = parked->copied_from;
	moving->memory = parked->memory;
	moving->values = parked->values;
}

static void record_transfer(struct engine_thread *from, struct engine_thread *to)
{
	if (record_state.area) {
		record_stand(from->op); /* the end of a time slice is no step */
		record_resume_thread(to->id.index);
	}
	record_state.below->transfer(from, to);
}

static void record_finish(struct engine_thread *from, struct engine_thread *to)
{
	if (record_state.area)
		record_resume_thread(to->id.index);
	record_state.below->finish(from, to);
}

const struct executor *record_executor(const struct executor *executor)
{
	record_state.below = executor;
	record_state.executor = *executor;
	record_state.executor.transfer = record_transfer;
	record_state.executor.finish = record_finish;
	return &record_state.executor;
}
