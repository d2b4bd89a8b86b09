#include "record/run_record.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

void run_record_release(struct run_record *record)
{
	for (uint32_t i = 0; i < record->thread_count; i++)
		free(record->threads[i].bytes);
	free(record->threads);
	free(record->modules);
	free(record->objects);
	free(record->ops);
	free(record->images);
	free(record->image_bytes);
	*record = (struct run_record){0};
}

static const struct record_chunk *chunk_at(const struct record_area *area, uint64_t offset)
{
	return (const struct record_chunk *)((const char *)area + offset);
}

/* The last chunk's length stands in the thread. */
static uint64_t chunk_used(
	const struct record_area *area, const struct record_thread *thread, uint64_t offset)
{
	if (offset != thread->last)
		return chunk_at(area, offset)->used;
	/* Addresses of the guest: only their distance means something here. */
	return RECORD_CHUNK_BYTES - sizeof(struct record_chunk) -
	       (uint64_t)(thread->end - thread->at);
}

static uint8_t *take_chunks(const struct record_area *area, const struct record_thread *thread,
	uint64_t extra, uint64_t *size)
{
	uint8_t *bytes;

	*size = 0;
	for (uint64_t at = thread->first; at; at = chunk_at(area, at)->next)
		*size += chunk_used(area, thread, at);
	bytes = malloc(*size + extra + 1);
	BUG_ON(!bytes);
	*size = 0;
	for (uint64_t at = thread->first; at; at = chunk_at(area, at)->next) {
		const uint64_t used = chunk_used(area, thread, at);

		memcpy(bytes + *size, chunk_at(area, at) + 1, used);
		*size += used;
	}
	return bytes;
}

static void append_end(struct run_thread *thread, uint64_t predicted)
{
	uint64_t number = predicted << RECORD_TAG_BITS | RECORD_END;

	for (; number >= 128; number >>= 7)
		thread->bytes[thread->size++] = (uint8_t)(number | 128);
	thread->bytes[thread->size++] = (uint8_t)number;
}

static void take_images(struct run_record *record, const struct record_area *area)
{
	record->image_count = area->image_count;
	record->images = calloc(area->image_count + 1u, sizeof *record->images);
	for (uint32_t i = 0; i < area->image_count; i++)
		record->image_size += area->images[i].bytes;
	record->image_bytes = malloc(record->image_size + 1);
	BUG_ON(!record->images || !record->image_bytes);
	record->image_size = 0;
	for (uint32_t i = 0; i < area->image_count; i++) {
		const struct record_image *from = &area->images[i];

		record->images[i] = *from;
		record->images[i].offset = record->image_size;
		memcpy(record->image_bytes + record->image_size, (const char *)area + from->offset,
			from->bytes);
		record->image_size += from->bytes;
	}
}

void run_record_take(struct run_record *record, const struct record_area *area, uint32_t threads)
{
	*record = (struct run_record){.thread_count = threads,
		.is_partial = area->is_full,
		.is_checked = area->is_checked,
		.object_count = area->object_count};
	record->threads = calloc(threads + 1u, sizeof *record->threads);
	record->objects = calloc(area->object_count + 1u, sizeof *record->objects);
	BUG_ON(!record->threads || !record->objects);
	memcpy(record->objects, area->objects, area->object_count * sizeof *record->objects);
	for (uint32_t i = 0; i < threads; i++) {
		const struct record_thread *from = &area->threads[i];
		struct run_thread *thread = &record->threads[i];

		thread->bytes = take_chunks(area, from, RECORD_NUMBER_MOST, &thread->size);
		append_end(thread, from->predicted);
		record->bytes += thread->size;
	}
	record->ops = (struct record_op *)take_chunks(area, &area->ops, 0, &record->op_count);
	record->bytes += record->op_count;
	take_images(record, area);
	record->op_count /= sizeof *record->ops;
}
