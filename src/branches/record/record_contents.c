/*
 * Contents of a record file: numbers and byte strings in a fixed order (docs/record-format.md). One
 * pass over the record both writes and reads: each step returns the value that it has written or
 * read.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "model/op.h"
#include "branches/record/record_file.h"

struct codec {
	bool is_reading;
	struct strbuf written; /* writing: the bytes so far */
	/* Reading: the rest of the contents, and the name of the file in messages. */
	const uint8_t *at, *end;
	const char *name;
	struct error *err;
	int status; /* after the first error nothing more is read */
};

static void record_contents_damaged(struct codec *codec, const char *what)
{
	if (codec->is_reading && codec->status == 0)
		codec->status = error_set(codec->err, ERROR_FORMAT,
			"%s is damaged: %s; record the run again", codec->name, what);
}

static uint64_t record_contents_number(
	struct codec *codec, uint64_t number, uint64_t most, const char *what)
{
	uint8_t bytes[RECORD_NUMBER_MOST + RECORD_NUMBER_SLACK];
	const uint8_t *next;

	if (!codec->is_reading) {
		strbuf_add(&codec->written, (const char *)bytes,
			(size_t)(record_number_put(bytes, number) - bytes));
		return number;
	}
	number = 0;
	next = record_number_get(codec->at, codec->end, &number);
	if (!next || number > most)
		record_contents_damaged(codec, what);
	if (next)
		codec->at = next;
	return codec->status == 0 ? number : 0;
}

/* A count of items of at least `bytes` bytes each; the file's size bounds the allocation. */
static uint64_t record_contents_count(
	struct codec *codec, uint64_t count, uint64_t most, size_t bytes, const char *what)
{
	count = record_contents_number(codec, count, most, what);
	if (codec->is_reading && count > (uint64_t)(codec->end - codec->at) / bytes)
		record_contents_damaged(codec, what);
	return codec->status == 0 ? count : 0;
}

/* The list of `count` items of this size; a new one for reading. */
static void *record_contents_list(
	const struct codec *codec, void *list, uint64_t count, size_t bytes)
{
	return codec->is_reading ? array_new(count + 1, bytes) : list;
}

/* `size` bytes at `bytes`, which are known to be in the file. */
static void record_contents_bytes(struct codec *codec, void *bytes, uint64_t size)
{
	if (codec->is_reading) {
		memcpy(bytes, codec->at, size);
		codec->at += size;
	} else if (size) {
		strbuf_add(&codec->written, bytes, size);
	}
}

static void record_contents_threads(struct codec *codec, struct run_record *record)
{
	record->thread_count = (uint32_t)record_contents_count(
		codec, record->thread_count, THREAD_CAPACITY, 4, "the number of threads");
	record->threads = record_contents_list(
		codec, record->threads, record->thread_count, sizeof *record->threads);
	for (uint32_t i = 0; i < record->thread_count && codec->status == 0; i++) {
		struct run_thread *thread = &record->threads[i];

		thread->name = (thread_name)record_contents_number(
			codec, thread->name, UINT32_MAX, "the name of a thread");
		thread->parent = (uint16_t)record_contents_number(
			codec, thread->parent, UINT16_MAX, "the creator of a thread");
		if (thread->parent >= i && thread->parent != UINT16_MAX && i)
			record_contents_damaged(codec, "the creator of a thread");
		thread->ordinal = (uint16_t)record_contents_number(
			codec, thread->ordinal, UINT16_MAX, "the number of a thread");
		thread->size = record_contents_count(
			codec, thread->size, UINT64_MAX, 1, "the entries of a thread");
		thread->bytes = record_contents_list(codec, thread->bytes, thread->size, 1);
		record_contents_bytes(codec, thread->bytes, thread->size);
		if (codec->is_reading)
			record->bytes += thread->size;
	}
	if (!record->thread_count)
		record_contents_damaged(codec, "the number of threads");
}

static void record_contents_modules(struct codec *codec, struct run_record *record)
{
	uint32_t first = 0;

	record->module_count = (uint32_t)record_contents_count(
		codec, record->module_count, UINT32_MAX, 4, "the number of modules");
	record->modules = record_contents_list(
		codec, record->modules, record->module_count, sizeof *record->modules);
	for (uint32_t i = 0; i < record->module_count && codec->status == 0; i++) {
		struct run_module *module = &record->modules[i];

		module->name = record_contents_number(
			codec, module->name, UINT64_MAX, "the name of a module");
		module->fingerprint =
			record_contents_number(codec, module->fingerprint, UINT64_MAX, "a module");
		module->records =
			record_contents_number(codec, module->records, UINT64_MAX, "a module");
		module->first = first;
		module->count = (uint32_t)record_contents_number(
			codec, module->count, INT32_MAX - first, "the sites of a module");
		first += module->count;
	}
}

static void record_contents_objects(struct codec *codec, struct run_record *record)
{
	record->object_count = (uint32_t)record_contents_count(
		codec, record->object_count, RECORD_OBJECTS_MAX, 2, "the number of files");
	record->objects = record_contents_list(
		codec, record->objects, record->object_count, sizeof *record->objects);
	for (uint32_t i = 0; i < record->object_count && codec->status == 0; i++) {
		struct record_object *object = &record->objects[i];
		uint64_t length;

		object->base = record_contents_number(
			codec, object->base, UINT64_MAX, "the location of a file");
		length = record_contents_count(codec, strlen(object->path), sizeof object->path - 1,
			1, "the path of a file");
		record_contents_bytes(codec, object->path, length);
	}
}

static void record_contents_images(struct codec *codec, struct run_record *record)
{
	uint64_t used = 0;

	record->image_count = (uint32_t)record_contents_count(
		codec, record->image_count, RECORD_IMAGES_MAX, 2, "the number of images");
	record->images = record_contents_list(
		codec, record->images, record->image_count, sizeof *record->images);
	/* An upper bound: the rest of the file, including the numbers between images. */
	record->image_bytes = record_contents_list(
		codec, record->image_bytes, (uint64_t)(codec->end - codec->at), 1);
	for (uint32_t i = 0; i < record->image_count && codec->status == 0; i++) {
		struct record_image *image = &record->images[i];

		image->address =
			record_contents_number(codec, image->address, UINT64_MAX, "an image");
		image->bytes =
			record_contents_count(codec, image->bytes, UINT64_MAX, 1, "an image");
		if (image->address > UINT64_MAX - image->bytes)
			record_contents_damaged(codec, "an image");
		if (codec->is_reading)
			image->offset = used;
		record_contents_bytes(codec, record->image_bytes + image->offset, image->bytes);
		used += image->bytes;
	}
	record->image_size = used;
}

static void record_contents_ops(struct codec *codec, struct run_record *record)
{
	const uint8_t *start = codec->at;
	uint64_t step = 0;

	record->op_count = record_contents_count(
		codec, record->op_count, UINT64_MAX, 8, "the number of operations");
	record->ops =
		record_contents_list(codec, record->ops, record->op_count, sizeof *record->ops);
	for (uint64_t i = 0; i < record->op_count && codec->status == 0; i++) {
		struct record_op *op = &record->ops[i];

		step += record_contents_number(
			codec, op->step - step, UINT64_MAX - step, "the step of an operation");
		op->step = step;
		op->kind = (uint8_t)record_contents_number(
			codec, op->kind, OP_KIND_COUNT - 1, "an operation");
		op->flags = (uint8_t)record_contents_number(
			codec, op->flags, UINT8_MAX, "an operation");
		op->thread = (uint16_t)record_contents_number(
			codec, op->thread, record->thread_count - 1, "the thread of an operation");
		op->other = (uint16_t)record_contents_number(
			codec, op->other, UINT16_MAX, "the other thread of an operation");
		if (op->other >= record->thread_count && op->other != UINT16_MAX)
			record_contents_damaged(codec, "the other thread of an operation");
		op->address =
			record_contents_number(codec, op->address, UINT64_MAX, "an operation");
		op->argument =
			record_contents_number(codec, op->argument, UINT64_MAX, "an operation");
		op->site = record_contents_number(codec, op->site, UINT64_MAX, "an operation");
	}
	if (codec->is_reading)
		record->bytes += (uint64_t)(codec->at - start);
}

static void record_contents_all(struct codec *codec, struct run_record *record)
{
	static void (*const parts[])(struct codec *, struct run_record *) = {
		record_contents_threads, record_contents_modules, record_contents_objects,
		record_contents_images, record_contents_ops};
	const uint64_t flags = record_contents_number(codec,
		(record->is_partial ? 1u : 0u) | (record->is_checked ? 2u : 0u), 3,
		"its beginning");

	record->is_partial = flags & 1;
	record->is_checked = flags & 2;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && codec->status == 0; i++)
		parts[i](codec, record);
}

uint8_t *record_contents(const struct run_record *record, size_t *size)
{
	struct run_record same = *record; /* writing returns each value as it is */
	struct codec codec = {.written = STRBUF_EMPTY};

	record_contents_all(&codec, &same);
	*size = codec.written.length;
	return (uint8_t *)strbuf_detach(&codec.written);
}

int record_contents_read(struct run_record *record, const uint8_t *bytes, size_t size,
	const char *name, struct error *err)
{
	struct codec codec = {
		.is_reading = true, .at = bytes, .end = bytes + size, .name = name, .err = err};

	*record = (struct run_record){0};
	record_contents_all(&codec, record);
	if (codec.status == 0 && codec.at != codec.end)
		record_contents_damaged(&codec, "there is something behind its end");
	if (codec.status < 0)
		run_record_release(record);
	return codec.status;
}
