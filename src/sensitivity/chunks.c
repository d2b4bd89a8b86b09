/* Parts of long runs (TAME, section 4: partition). */
#include <stdlib.h>

#include "base/bug.h"
#include "sensitivity/sensitivity_internal.h"

/* A run of so many windows is one chunk; a global window is as long. */
#define WINDOWS_TOGETHER 4

void chunk_open(struct chunk *chunk, const struct sensitivity *analysis)
{
	const uint32_t threads = analysis->order.thread_count;

	*chunk = (struct chunk){0};
	chunk->window.begin = calloc(threads + 1u, sizeof *chunk->window.begin);
	chunk->window.end = calloc(threads + 1u, sizeof *chunk->window.end);
	BUG_ON(!chunk->window.begin || !chunk->window.end);
}

void chunk_release(struct chunk *chunk)
{
	free(chunk->window.begin);
	free(chunk->window.end);
	*chunk = (struct chunk){0};
}

void chunk_rewind(struct chunk_cursor *cursor, const struct sensitivity *analysis)
{
	free(cursor->ends);
	*cursor = (struct chunk_cursor){
		.ends = calloc(analysis->order.thread_count + 1u, sizeof *cursor->ends)};
	BUG_ON(!cursor->ends);
}

bool chunk_is_whole(const struct sensitivity *analysis)
{
	return analysis->order.event_count <= (uint64_t)WINDOWS_TOGETHER * analysis->options.window;
}

static bool is_global(const struct sensitivity *analysis)
{
	return analysis->options.is_global || chunk_is_whole(analysis);
}

/* Of a window of the run as it was. */
static uint64_t global_size(const struct sensitivity *analysis)
{
	return chunk_is_whole(analysis) ? analysis->order.event_count
					: (uint64_t)WINDOWS_TOGETHER * analysis->options.window;
}

static bool next_global(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	const struct order *order = &analysis->order;
	const uint64_t room = order->event_count - cursor->global_end;
	const uint64_t wanted = global_size(analysis);
	const uint64_t count = room < wanted ? room : wanted;

	for (uint32_t i = 0; i < order->thread_count; i++)
		chunk->window.begin[i] = cursor->ends[i];
	for (uint64_t i = 0; i < count; i++)
		cursor->ends[order->events[cursor->global_end++].thread]++;
	for (uint32_t i = 0; i < order->thread_count; i++)
		chunk->window.end[i] = cursor->ends[i];
	chunk->first = 0;
	chunk->last = order->thread_count - 1;
	chunk->begin = chunk->window.begin[0];
	return count > 0;
}

/*
 * The next window of one thread, with those windows of the others that begin as early as what was before
 * it lets them.
 */
static bool next_distributed(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	const struct order *order = &analysis->order;
	const struct walk *walk = &analysis->walk;
	uint64_t begin = cursor->number * analysis->options.window;

	while (cursor->thread < order->thread_count &&
		begin >= walk->threads[cursor->thread].count) {
		cursor->thread++;
		cursor->number = begin = 0;
	}
	if (cursor->thread == order->thread_count)
		return false;
	for (uint32_t i = 0; i < order->thread_count; i++) {
		const uint64_t start =
			begin ? order->pasts[cursor->thread][(begin - 1) * order->thread_count + i]
			      : 0;
		const uint64_t end = start + analysis->options.window;

		chunk->window.begin[i] = (uint32_t)start;
		chunk->window.end[i] =
			(uint32_t)(end < walk->threads[i].count ? end : walk->threads[i].count);
	}
	chunk->first = chunk->last = cursor->thread;
	chunk->begin = begin;
	cursor->number++;
	return true;
}

bool chunk_next(
	const struct sensitivity *analysis, struct chunk_cursor *cursor, struct chunk *chunk)
{
	return is_global(analysis) ? next_global(analysis, cursor, chunk)
				   : next_distributed(analysis, cursor, chunk);
}

uint64_t chunk_count(const struct sensitivity *analysis)
{
	const uint64_t window = analysis->options.window;
	uint64_t count = 0;

	if (is_global(analysis))
		return analysis->order.event_count
			       ? (analysis->order.event_count - 1) / global_size(analysis) + 1
			       : 0;
	for (uint32_t i = 0; i < analysis->order.thread_count; i++)
		count += (analysis->walk.threads[i].count + window - 1) / window;
	return count;
}
