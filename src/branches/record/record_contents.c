/* Contents of a record file: numbers and byte strings in a fixed order (docs/record-format.md). */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bug.h"
#include "model/op.h"
#include "branches/record/record_file.h"

struct writer {
	uint8_t *bytes;
	size_t size, capacity;
};

static void record_contents_put_bytes(struct writer *writer, const void *bytes, size_t size)
{
	if (size > writer->capacity - writer->size) {
		writer->capacity = 2 * (writer->size + size) + 4096;
		writer->bytes = realloc(writer->bytes, writer->capacity);
		BUG_ON(!writer->bytes);
	}
	if (size)
		memcpy(writer->bytes + writer->size, bytes, size);
	writer->size += size;
}

static void record_contents_put_number(struct writer *writer, uint64_t number)
{
	uint8_t bytes[RECORD_NUMBER_MOST + RECORD_NUMBER_SLACK];

	record_contents_put_bytes(
		writer, bytes, (size_t)(record_number_put(bytes, number) - bytes));
}

static void record_contents_put_threads(struct writer *writer, const struct run_record *record)
{
	record_contents_put_number(writer, record->thread_count);
	for (uint32_t i = 0; i < record->thread_count; i++) {
		const struct run_thread *thread = &record->threads[i];

		record_contents_put_number(writer, thread->name);
		record_contents_put_number(writer, thread->parent);
		record_contents_put_number(writer, thread->ordinal);
		record_contents_put_number(writer, thread->size);
		record_contents_put_bytes(writer, thread->bytes, thread->size);
	}
}

static void record_contents_put_places(struct writer *writer, const struct run_record *record)
{
	record_contents_put_number(writer, record->module_count);
	for (uint32_t i = 0; i < record->module_count; i++) {
		record_contents_put_number(writer, record->modules[i].name);
		record_contents_put_number(writer, record->modules[i].fingerprint);
		record_contents_put_number(writer, record->modules[i].records);
		record_contents_put_number(writer, record->modules[i].count);
	}
	record_contents_put_number(writer, record->object_count);
	for (uint32_t i = 0; i < record->object_count; i++) {
		const char *path = record->objects[i].path;

		record_contents_put_number(writer, record->objects[i].base);
		record_contents_put_number(writer, strlen(path));
		record_contents_put_bytes(writer, path, strlen(path));
	}
	record_contents_put_number(writer, record->image_count);
	for (uint32_t i = 0; i < record->image_count; i++) {
		record_contents_put_number(writer, record->images[i].address);
		record_contents_put_number(writer, record->images[i].bytes);
		record_contents_put_bytes(writer, record->image_bytes + record->images[i].offset,
			record->images[i].bytes);
	}
}

static void record_contents_put_ops(struct writer *writer, const struct run_record *record)
{
	uint64_t step = 0;

	record_contents_put_number(writer, record->op_count);
	for (uint64_t i = 0; i < record->op_count; i++) {
		const struct record_op *op = &record->ops[i];

		record_contents_put_number(writer, op->step - step);
		record_contents_put_number(writer, op->kind);
		record_contents_put_number(writer, op->flags);
		record_contents_put_number(writer, op->thread);
		record_contents_put_number(writer, op->other);
		record_contents_put_number(writer, op->address);
		record_contents_put_number(writer, op->argument);
		record_contents_put_number(writer, op->site);
		step = op->step;
	}
}

uint8_t *record_contents(const struct run_record *record, size_t *size)
{
	struct writer writer = {0};

	record_contents_put_number(
		&writer, (record->is_partial ? 1u : 0u) | (record->is_checked ? 2u : 0u));
	record_contents_put_threads(&writer, record);
	record_contents_put_places(&writer, record);
	record_contents_put_ops(&writer, record);
	*size = writer.size;
	return writer.bytes;
}

struct reader {
	const uint8_t *at, *end;
	const char *name;
	struct error *err;
	int status; /* after the first error nothing more is read */
};

static void record_contents_damaged(struct reader *reader, const char *what)
{
	if (reader->status == 0)
		reader->status = error_set(reader->err, ERROR_FORMAT,
			"%s is damaged: %s; record the run again", reader->name, what);
}

static uint64_t record_contents_get_number(struct reader *reader, uint64_t most, const char *what)
{
	uint64_t number = 0;

	const uint8_t *next = record_number_get(reader->at, reader->end, &number);

	if (next)
		reader->at = next;
	else
		record_contents_damaged(reader, what);
	if (number > most)
		record_contents_damaged(reader, what);
	return reader->status == 0 ? number : 0;
}

/* Reads a count of items of at least `bytes` bytes each; the file's size bounds the allocation. */
static uint64_t record_contents_get_count(
	struct reader *reader, uint64_t most, size_t bytes, const char *what)
{
	const uint64_t count = record_contents_get_number(reader, most, what);

	if (count > (uint64_t)(reader->end - reader->at) / bytes)
		record_contents_damaged(reader, what);
	return reader->status == 0 ? count : 0;
}

static uint8_t *record_contents_get_bytes(
	struct reader *reader, uint64_t size, uint64_t room, const char *what)
{
	uint8_t *bytes;

	if (size > (uint64_t)(reader->end - reader->at)) {
		record_contents_damaged(reader, what);
		return NULL;
	}
	bytes = array_new(size + room + 1, 1);
	memcpy(bytes, reader->at, size);
	reader->at += size;
	return bytes;
}

static void *record_contents_allocate(uint64_t count, size_t bytes)
{
	void *memory = array_new(count + 1, bytes);

	return memory;
}

static void record_contents_get_threads(struct reader *reader, struct run_record *record)
{
	record->thread_count = (uint32_t)record_contents_get_count(
		reader, THREAD_CAPACITY, 4, "the number of threads");
	record->threads = record_contents_allocate(record->thread_count, sizeof *record->threads);
	for (uint32_t i = 0; i < record->thread_count && reader->status == 0; i++) {
		struct run_thread *thread = &record->threads[i];

		thread->name = (thread_name)record_contents_get_number(
			reader, UINT32_MAX, "the name of a thread");
		thread->parent = (uint16_t)record_contents_get_number(
			reader, UINT16_MAX, "the creator of a thread");
		if (thread->parent >= i && thread->parent != UINT16_MAX && i)
			record_contents_damaged(reader, "the creator of a thread");
		thread->ordinal = (uint16_t)record_contents_get_number(
			reader, UINT16_MAX, "the number of a thread");
		thread->size =
			record_contents_get_number(reader, UINT64_MAX, "the entries of a thread");
		thread->bytes = record_contents_get_bytes(
			reader, thread->size, 0, "the entries of a thread");
		if (reader->status == 0)
			record->bytes += thread->size;
	}
	if (!record->thread_count)
		record_contents_damaged(reader, "the number of threads");
}

static void record_contents_get_modules(struct reader *reader, struct run_record *record)
{
	uint32_t first = 0;

	record->module_count =
		(uint32_t)record_contents_get_count(reader, UINT32_MAX, 4, "the number of modules");
	record->modules = record_contents_allocate(record->module_count, sizeof *record->modules);
	for (uint32_t i = 0; i < record->module_count && reader->status == 0; i++) {
		struct run_module *module = &record->modules[i];

		module->name =
			record_contents_get_number(reader, UINT64_MAX, "the name of a module");
		module->fingerprint = record_contents_get_number(reader, UINT64_MAX, "a module");
		module->records = record_contents_get_number(reader, UINT64_MAX, "a module");
		module->first = first;
		module->count = (uint32_t)record_contents_get_number(
			reader, INT32_MAX - first, "the sites of a module");
		first += module->count;
	}
}

static void record_contents_get_objects(struct reader *reader, struct run_record *record)
{
	record->object_count = (uint32_t)record_contents_get_count(
		reader, RECORD_OBJECTS_MAX, 2, "the number of files");
	record->objects = record_contents_allocate(record->object_count, sizeof *record->objects);
	for (uint32_t i = 0; i < record->object_count && reader->status == 0; i++) {
		struct record_object *object = &record->objects[i];
		uint64_t length;

		object->base =
			record_contents_get_number(reader, UINT64_MAX, "the place of a file");
		length = record_contents_get_count(
			reader, sizeof object->path - 1, 1, "the path of a file");
		memcpy(object->path, reader->at, length);
		reader->at += length;
	}
}

static void record_contents_get_images(struct reader *reader, struct run_record *record)
{
	const uint8_t *start;

	record->image_count = (uint32_t)record_contents_get_count(
		reader, RECORD_IMAGES_MAX, 2, "the number of images");
	record->images = record_contents_allocate(record->image_count, sizeof *record->images);
	start = reader->at;
	/* An upper bound: the rest of the file, including the numbers between images. */
	record->image_bytes = array_new((size_t)(reader->end - start) + 1, 1);
	for (uint32_t i = 0; i < record->image_count && reader->status == 0; i++) {
		struct record_image *image = &record->images[i];

		image->address = record_contents_get_number(reader, UINT64_MAX, "an image");
		image->bytes = record_contents_get_count(reader, UINT64_MAX, 1, "an image");
		image->offset = record->image_size;
		if (image->address > UINT64_MAX - image->bytes)
			record_contents_damaged(reader, "an image");
		memcpy(record->image_bytes + record->image_size, reader->at, image->bytes);
		record->image_size += image->bytes;
		reader->at += image->bytes;
	}
}

static void record_contents_get_ops(struct reader *reader, struct run_record *record)
{
	const uint8_t *start = reader->at;
	uint64_t step = 0;

	record->op_count =
		record_contents_get_count(reader, UINT64_MAX, 8, "the number of operations");
	record->ops = record_contents_allocate(record->op_count, sizeof *record->ops);
	for (uint64_t i = 0; i < record->op_count && reader->status == 0; i++) {
		struct record_op *op = &record->ops[i];

		step += record_contents_get_number(
			reader, UINT64_MAX - step, "the step of an operation");
		op->step = step;
		op->kind = (uint8_t)record_contents_get_number(
			reader, OP_KIND_COUNT - 1, "an operation");
		op->flags = (uint8_t)record_contents_get_number(reader, UINT8_MAX, "an operation");
		op->thread = (uint16_t)record_contents_get_number(
			reader, record->thread_count - 1, "the thread of an operation");
		op->other = (uint16_t)record_contents_get_number(
			reader, UINT16_MAX, "the other thread of an operation");
		if (op->other >= record->thread_count && op->other != UINT16_MAX)
			record_contents_damaged(reader, "the other thread of an operation");
		op->address = record_contents_get_number(reader, UINT64_MAX, "an operation");
		op->argument = record_contents_get_number(reader, UINT64_MAX, "an operation");
		op->site = record_contents_get_number(reader, UINT64_MAX, "an operation");
	}
	record->bytes += (uint64_t)(reader->at - start);
}

int record_contents_read(struct run_record *record, const uint8_t *bytes, size_t size,
	const char *name, struct error *err)
{
	struct reader reader = {.at = bytes, .end = bytes + size, .name = name, .err = err};
	uint64_t flags;

	*record = (struct run_record){0};
	flags = record_contents_get_number(&reader, 3, "its beginning");
	record->is_partial = flags & 1;
	record->is_checked = flags & 2;
	if (reader.status == 0)
		record_contents_get_threads(&reader, record);
	if (reader.status == 0)
		record_contents_get_modules(&reader, record);
	if (reader.status == 0)
		record_contents_get_objects(&reader, record);
	if (reader.status == 0)
		record_contents_get_images(&reader, record);
	if (reader.status == 0)
		record_contents_get_ops(&reader, record);
	if (reader.status == 0 && reader.at != reader.end)
		record_contents_damaged(&reader, "there is something behind its end");
	if (reader.status < 0)
		run_record_release(record);
	return reader.status;
}
