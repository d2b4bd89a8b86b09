#include "branches/record/run_record.h"

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
	free(record->op_stream);
	free(record->images);
	free(record->image_bytes);
	free(record->points);
	*record = (struct run_record){0};
}

static const struct record_chunk *chunk_at(const struct record_area *area, uint64_t offset)
{
	return (const struct record_chunk *)((const char *)area + offset);
}

/* The last chunk's length is known only from the thread's write position. */
static uint64_t chunk_used(
	const struct record_area *area, const struct record_thread *thread, uint64_t offset)
{
	if (offset != thread->last)
		return chunk_at(area, offset)->used;
	/* Pointers of the guest: only their difference has a meaning here. */
	return RECORD_CHUNK_BYTES - sizeof(struct record_chunk) -
	       (uint64_t)(thread->end - thread->at);
}

/* Polynomial digest of eight bytes at a time, independent of the split into calls. */
#define DIGEST_FACTOR UINT64_C(0x9e3779b97f4a7c15)

uint64_t run_record_digest(uint64_t state, const uint8_t *bytes, uint64_t size)
{
	uint64_t powers[9] = {1}, i = 0;

	for (uint32_t power = 1; power < 9; power++)
		powers[power] = powers[power - 1] * DIGEST_FACTOR;
	for (; i + 8 <= size; i += 8) {
		state *= powers[8];
		for (uint32_t j = 0; j < 8; j++)
			state += (bytes[i + j] + UINT64_C(1)) * powers[7 - j];
	}
	for (; i < size; i++)
		state = state * DIGEST_FACTOR + bytes[i] + 1;
	return state;
}

static uint64_t size_of(const struct record_area *area, const struct record_thread *thread)
{
	uint64_t size = 0;

	for (uint64_t at = thread->first; at; at = chunk_at(area, at)->next)
		size += chunk_used(area, thread, at);
	return size;
}

/* Copies all chunks to `at`, which has room for them. */
static void copy_chunks(
	const struct record_area *area, const struct record_thread *thread, uint8_t *at)
{
	for (uint64_t chunk = thread->first; chunk; chunk = chunk_at(area, chunk)->next) {
		const uint64_t used = chunk_used(area, thread, chunk);

		memcpy(at, chunk_at(area, chunk) + 1, used);
		at += used;
	}
}

static void *enlarge(void *memory, uint64_t bytes)
{
	memory = realloc(memory, bytes + 1);
	BUG_ON(!memory);
	return memory;
}

static void run_record_take_thread(struct run_thread *thread, const struct record_area *area,
	const struct record_thread *from, bool is_kept)
{
	const uint64_t size = size_of(area, from);

	if (!size)
		return;
	/* Entries that are not kept are only digested: the next call overwrites them. */
	thread->bytes = enlarge(thread->bytes, thread->size + size + RECORD_NUMBER_MOST);
	copy_chunks(area, from, thread->bytes + thread->size);
	thread->digest = run_record_digest(thread->digest, thread->bytes + thread->size, size);
	if (is_kept)
		thread->size += size;
}

static void run_record_take_threads(
	struct run_record *record, const struct record_area *area, uint32_t threads, uint64_t most)
{
	uint64_t size = 0;

	/* The final thread count is only known when the run ends. */
	for (uint32_t i = threads; i < THREAD_CAPACITY; i++)
		if (area->threads[i].first)
			threads = i + 1;
	if (threads > record->thread_count) {
		record->threads = enlarge(record->threads, threads * sizeof *record->threads);
		memset(record->threads + record->thread_count, 0,
			(threads - record->thread_count) * sizeof *record->threads);
		record->thread_count = threads;
	}
	for (uint32_t i = 0; i < record->thread_count; i++)
		size += record->threads[i].size + size_of(area, &area->threads[i]);
	record->is_partial |= size > most;
	for (uint32_t i = 0; i < record->thread_count; i++) {
		record->bytes += size_of(area, &area->threads[i]);
		run_record_take_thread(
			&record->threads[i], area, &area->threads[i], !record->is_partial);
	}
}

static void add_op(struct run_record *record, const struct record_op *op)
{
	if (record->op_count == record->op_capacity) {
		record->op_capacity = record->op_capacity ? 2 * record->op_capacity : 64;
		record->ops = enlarge(record->ops, record->op_capacity * sizeof *record->ops);
	}
	record->ops[record->op_count++] = *op;
}

static void take_ops(struct run_record *record, const struct record_area *area)
{
	const uint64_t size = size_of(area, &area->ops);
	uint8_t *bytes = enlarge(NULL, size);
	const uint8_t *at = bytes;

	if (!record->op_stream)
		record->op_stream = calloc(1, sizeof *record->op_stream);
	BUG_ON(!record->op_stream);
	copy_chunks(area, &area->ops, bytes);
	while (at < bytes + size) {
		struct record_op op;

		at = op_stream_read(record->op_stream, at, bytes + size, &op);
		add_op(record, &op);
	}
	record->bytes += size;
	free(bytes);
}

static void take_images(struct run_record *record, const struct record_area *area)
{
	record->images = enlarge(
		record->images, (record->image_count + area->image_count) * sizeof *record->images);
	for (uint32_t i = 0; i < area->image_count; i++) {
		const struct record_image *from = &area->images[i];
		struct record_image *image = &record->images[record->image_count++];

		*image = *from;
		image->offset = record->image_size;
		record->image_bytes =
			enlarge(record->image_bytes, record->image_size + from->bytes);
		memcpy(record->image_bytes + record->image_size, (const char *)area + from->offset,
			from->bytes);
		record->image_size += from->bytes;
	}
}

static void empty(struct record_thread *thread)
{
	thread->first = thread->last = 0;
	thread->at = thread->end = NULL;
}

void run_record_take(
	struct run_record *record, struct record_area *area, uint32_t threads, uint64_t most)
{
	run_record_take_threads(record, area, threads, most);
	take_ops(record, area);
	take_images(record, area);
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++)
		empty(&area->threads[i]);
	empty(&area->ops);
	area->image_count = 0;
	area->used = record_area_start();
}

static void append_end(struct run_thread *thread, uint64_t predicted)
{
	const uint64_t number = predicted << RECORD_TAG_BITS | RECORD_END;
	const uint64_t start = thread->size;

	thread->bytes =
		enlarge(thread->bytes, thread->size + RECORD_NUMBER_MOST + RECORD_NUMBER_SLACK);
	thread->size = (uint64_t)(record_number_put(thread->bytes + start, number) - thread->bytes);
	thread->digest =
		run_record_digest(thread->digest, thread->bytes + start, thread->size - start);
}

void run_record_finish(struct run_record *record, const struct record_area *area)
{
	record->is_partial |= area->is_full != 0;
	record->is_checked = area->is_checked;
	for (uint32_t i = 0; i < record->thread_count; i++) {
		const uint64_t before = record->threads[i].size;

		append_end(&record->threads[i], area->is_cut ? area->threads[i].predicted_at_cut
							     : area->threads[i].predicted);
		record->bytes += record->threads[i].size - before;
	}
	record->object_count = area->object_count;
	record->objects = enlarge(record->objects, area->object_count * sizeof *record->objects);
	memcpy(record->objects, area->objects, area->object_count * sizeof *record->objects);
}

void run_record_forget(struct run_record *record)
{
	for (uint32_t i = 0; i < record->thread_count; i++)
		record->threads[i].size = 0;
}
