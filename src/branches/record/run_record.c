#include "branches/record/run_record.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bug.h"
#include "model/op.h"

#define END_BYTES_MOST (RECORD_NUMBER_MOST + RECORD_NUMBER_SLACK)

static void run_record_free_entries(struct run_thread *thread)
{
	if (thread->mapped)
		(void)munmap(thread->bytes, thread->mapped); /* cannot fail: our own mapping */
	else
		free(thread->bytes);
}

void run_record_release(struct run_record *record)
{
	for (uint32_t i = 0; i < record->thread_count; i++) {
		if (record->threads[i].mapped)
			(void)close(record->threads[i].file); /* the contents are of no use */
		run_record_free_entries(&record->threads[i]);
	}
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

static const struct record_chunk *run_record_chunk_at(
	const struct record_area *area, uint64_t offset)
{
	return (const struct record_chunk *)((const char *)area + offset);
}

/* Returns the number of bytes used in a chunk. For the last chunk, only the thread's write position
 * shows it. */
static uint64_t run_record_chunk_used(
	const struct record_area *area, const struct record_thread *thread, uint64_t offset)
{
	if (offset != thread->last)
		return run_record_chunk_at(area, offset)->used;
	/* Pointers of the guest: only their difference has a meaning here. */
	return RECORD_CHUNK_BYTES - sizeof(struct record_chunk) -
	       (uint64_t)(thread->end - thread->at);
}

/* Checks the list of chunks. Returns false if an offset or a length leads out of the area, or the
 * chunks form a cycle. */
static bool run_record_has_chunks(
	const struct record_area *area, uint64_t bytes, const struct record_thread *thread)
{
	uint64_t chunks = bytes / RECORD_CHUNK_BYTES;

	for (uint64_t at = thread->first; at; at = run_record_chunk_at(area, at)->next)
		if (at < record_area_start() || at > bytes - RECORD_CHUNK_BYTES ||
			at % sizeof(struct record_chunk) || !chunks-- ||
			run_record_chunk_used(area, thread, at) >
				RECORD_CHUNK_BYTES - sizeof(struct record_chunk))
			return false;
	return true;
}

static bool run_record_has_images(const struct record_area *area, uint64_t bytes)
{
	if (area->image_count > RECORD_IMAGES_MAX || area->object_count > RECORD_OBJECTS_MAX)
		return false;
	for (uint32_t i = 0; i < area->image_count; i++)
		if (area->images[i].offset > bytes ||
			area->images[i].bytes > bytes - area->images[i].offset)
			return false;
	return true;
}

static bool run_record_is_area_valid(const struct record_area *area, uint64_t bytes)
{
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++)
		if (!run_record_has_chunks(area, bytes, &area->threads[i]))
			return false;
	return run_record_has_chunks(area, bytes, &area->ops) && run_record_has_images(area, bytes);
}

static uint64_t run_record_size_of(
	const struct record_area *area, const struct record_thread *thread)
{
	uint64_t size = 0;

	for (uint64_t at = thread->first; at; at = run_record_chunk_at(area, at)->next)
		size += run_record_chunk_used(area, thread, at);
	return size;
}

/* Copies all chunks to `at`, which has room for them. */
static void run_record_copy_chunks(
	const struct record_area *area, const struct record_thread *thread, uint8_t *at)
{
	for (uint64_t chunk = thread->first; chunk;
		chunk = run_record_chunk_at(area, chunk)->next) {
		const uint64_t used = run_record_chunk_used(area, thread, chunk);

		memcpy(at, run_record_chunk_at(area, chunk) + 1, used);
		at += used;
	}
}

/* Longer entries lie in a file, so that the kernel can write their pages to the disk. */
#define MEMORY_MOST (UINT64_C(64) << 20)

static bool run_record_open_file(struct run_thread *thread)
{
	char path[] = "/var/tmp/raddle-XXXXXX";

	thread->file = mkostemp(path, O_CLOEXEC);
	return thread->file >= 0 && unlink(path) == 0;
}

/* Maps the file. Returns false if the file has no space; the entries are unchanged then. */
static bool run_record_map(struct run_thread *thread, uint64_t bytes)
{
	const uint64_t length = (bytes / MEMORY_MOST + 1) * MEMORY_MOST;
	uint8_t *memory;

	if (bytes <= thread->mapped)
		return true;
	if (!thread->mapped && !run_record_open_file(thread))
		return false;
	if (posix_fallocate(thread->file, 0, (off_t)length) != 0) {
		if (!thread->mapped)
			(void)close(thread->file); /* holds nothing */
		return false;
	}
	memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, thread->file, 0);
	BUG_ON(memory == MAP_FAILED);
	if (!thread->mapped && thread->size)
		memcpy(memory, thread->bytes, thread->size);
	run_record_free_entries(thread);
	thread->bytes = memory;
	thread->mapped = length;
	return true;
}

/* Returns false in the same cases as run_record_map(). */
static bool run_record_reserve(struct run_thread *thread, uint64_t bytes)
{
	if (bytes > MEMORY_MOST)
		return run_record_map(thread, bytes);
	if (bytes > thread->capacity) {
		thread->capacity = 2 * bytes;
		thread->bytes = array_resize(thread->bytes, thread->capacity, 1);
	}
	return true;
}

static void run_record_take_thread(struct run_record *record, struct run_thread *thread,
	const struct record_area *area, const struct record_thread *from)
{
	const uint64_t size = run_record_size_of(area, from);

	record->bytes += size;
	if (size && !record->is_partial)
		record->is_partial =
			!run_record_reserve(thread, thread->size + size + END_BYTES_MOST);
	if (!size || record->is_partial)
		return;
	run_record_copy_chunks(area, from, thread->bytes + thread->size);
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
		record->threads = array_resize(record->threads, threads, sizeof *record->threads);
		memset(record->threads + record->thread_count, 0,
			(threads - record->thread_count) * sizeof *record->threads);
		record->thread_count = threads;
	}
	for (uint32_t i = 0; i < record->thread_count; i++)
		size += record->threads[i].size + run_record_size_of(area, &area->threads[i]);
	record->is_partial |= size > most;
	for (uint32_t i = 0; i < record->thread_count; i++)
		run_record_take_thread(record, &record->threads[i], area, &area->threads[i]);
}

static void run_record_take_ops(struct run_record *record, const struct record_area *area)
{
	const uint64_t size = run_record_size_of(area, &area->ops);
	uint8_t *bytes = array_resize(NULL, size, 1);
	const uint8_t *at = bytes;

	if (!record->op_stream)
		record->op_stream = array_new(1, sizeof *record->op_stream);
	run_record_copy_chunks(area, &area->ops, bytes);
	while (at < bytes + size) {
		struct record_op op;

		at = op_stream_read(record->op_stream, at, bytes + size, &op);
		ARRAY_APPEND(record->ops, record->op_count, op);
	}
	record->bytes += size;
	free(bytes);
}

static void run_record_take_images(struct run_record *record, const struct record_area *area)
{
	record->images = array_resize(
		record->images, record->image_count + area->image_count, sizeof *record->images);
	for (uint32_t i = 0; i < area->image_count; i++) {
		const struct record_image *from = &area->images[i];
		struct record_image *image = &record->images[record->image_count++];

		*image = *from;
		image->offset = record->image_size;
		record->image_bytes =
			array_resize(record->image_bytes, record->image_size + from->bytes, 1);
		memcpy(record->image_bytes + record->image_size, (const char *)area + from->offset,
			from->bytes);
		record->image_size += from->bytes;
	}
}

static void run_record_empty(struct record_thread *thread)
{
	thread->first = thread->last = 0;
	thread->at = thread->end = NULL;
}

bool run_record_take(struct run_record *record, struct record_area *area, uint64_t bytes,
	uint32_t threads, uint64_t most)
{
	if (!run_record_is_area_valid(area, bytes))
		return false;
	run_record_take_threads(record, area, threads, most);
	run_record_take_ops(record, area);
	run_record_take_images(record, area);
	for (uint32_t i = 0; i < THREAD_CAPACITY; i++)
		run_record_empty(&area->threads[i]);
	run_record_empty(&area->ops);
	area->image_count = 0;
	area->used = record_area_start();
	return true;
}

static void run_record_append_end(struct run_thread *thread, uint64_t predicted)
{
	const uint64_t number = predicted << RECORD_TAG_BITS | RECORD_END;

	if (!thread->mapped) /* else run_record_take_thread() has reserved the space */
		thread->bytes = array_resize(thread->bytes, thread->size + END_BYTES_MOST, 1);
	thread->size =
		(uint64_t)(record_number_put(thread->bytes + thread->size, number) - thread->bytes);
}

static bool run_record_has_valid_ops(const struct run_record *record)
{
	for (uint64_t i = 0; i < record->op_count; i++) {
		const struct record_op *op = &record->ops[i];

		if (op->kind >= OP_KIND_COUNT || op->thread >= record->thread_count ||
			(op->other >= record->thread_count && op->other != UINT16_MAX))
			return false;
	}
	return true;
}

bool run_record_finish(struct run_record *record, const struct record_area *area)
{
	if (area->object_count > RECORD_OBJECTS_MAX)
		return false;
	record->is_partial |= area->is_full != 0;
	record->is_checked = area->is_checked;
	for (uint32_t i = 0; i < record->thread_count; i++) {
		const uint64_t before = record->threads[i].size;

		run_record_append_end(
			&record->threads[i], area->is_cut ? area->threads[i].predicted_at_cut
							  : area->threads[i].predicted);
		record->bytes += record->threads[i].size - before;
	}
	record->object_count = area->object_count;
	record->objects =
		array_resize(record->objects, record->object_count, sizeof *record->objects);
	memcpy(record->objects, area->objects, record->object_count * sizeof *record->objects);
	for (uint32_t i = 0; i < record->object_count; i++)
		record->objects[i].path[sizeof record->objects[i].path - 1] = '\0';
	return run_record_has_valid_ops(record);
}
