#include "trace/trace_writer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "trace/trace_format_internal.h"

/* zstd's default. A trace shrinks to a few bytes per event; higher levels gain little. */
#define COMPRESSION_LEVEL 3

struct trace_writer {
	FILE *file;
	char *path;	     /* NULL: the writer writes into memory */
	char **bytes;	     /* for memory: the variable of the caller */
	struct strbuf block; /* uncompressed items of the open block */
	enum trace_block_kind kind;
	uint32_t item_count; /* in the open block */
	uint32_t thread_count;
	uint64_t event_count;
	uint64_t last_step;
	void *stored; /* buffer for a compressed block */
	size_t stored_capacity;
};

static int writer_error(struct trace_writer *writer, struct error *err)
{
	return error_set(err, ERROR_IO, "cannot write the trace %s: %s; %s",
		writer->path ? writer->path : "into memory", strerror(errno),
		errno == ENOSPC ? "free some space and start again"
				: "check the disk and the permissions of that folder");
}

static void add_number(struct trace_writer *writer, uint64_t value, unsigned size)
{
	unsigned char bytes[8];

	bytes_put(bytes, value, size);
	strbuf_add(&writer->block, (const char *)bytes, size);
}

/* Texts over 64 KB are cut; only a command line can be that long. */
static void trace_writer_add_text(struct trace_writer *writer, const char *text)
{
	size_t length = text ? strlen(text) : 0;

	length = length > TRACE_TEXT_MAX ? TRACE_TEXT_MAX : length;
	add_number(writer, length, 2);
	strbuf_add(&writer->block, text ? text : "", length);
}

static int trace_writer_write_bytes(
	struct trace_writer *writer, const void *bytes, size_t size, struct error *err)
{
	return fwrite(bytes, 1, size, writer->file) == size ? 0 : writer_error(writer, err);
}

/* Compresses and writes the open block, and starts another one of the same kind. */
static int end_block(struct trace_writer *writer, struct error *err)
{
	unsigned char header[TRACE_BLOCK_HEADER_BYTES];
	const size_t needed = ZSTD_compressBound(writer->block.length);
	size_t stored;
	int status;

	BUG_ON(writer->block.length > TRACE_BLOCK_MAX);
	if (needed > writer->stored_capacity) {
		writer->stored = realloc(writer->stored, needed);
		BUG_ON(!writer->stored);
		writer->stored_capacity = needed;
	}
	stored = ZSTD_compress(writer->stored, needed, writer->block.text, writer->block.length,
		COMPRESSION_LEVEL);
	BUG_ON(ZSTD_isError(stored));
	bytes_put(header, (uint64_t)writer->kind, 4);
	bytes_put(header + 4, writer->item_count, 4);
	bytes_put(header + 8, writer->block.length, 4);
	bytes_put(header + 12, stored, 4);
	bytes_put(header + 16, hash_bytes(writer->stored, stored), 8);
	bytes_put(header + 24, hash_bytes(header, 24), 8);
	status = trace_writer_write_bytes(writer, header, sizeof header, err);
	if (!status)
		status = trace_writer_write_bytes(writer, writer->stored, stored, err);
	strbuf_clear(&writer->block);
	writer->item_count = 0;
	return status;
}

static int end_item(struct trace_writer *writer, struct error *err)
{
	writer->item_count++;
	return writer->block.length < TRACE_BLOCK_TARGET ? 0 : end_block(writer, err);
}

static int write_header(struct trace_writer *writer, struct error *err)
{
	unsigned char header[TRACE_HEADER_BYTES] = TRACE_MAGIC;

	bytes_put(header + 8, TRACE_VERSION, 4);
	bytes_put(header + 16, hash_bytes(header, 16), 8);
	return trace_writer_write_bytes(writer, header, sizeof header, err);
}

static int write_head(struct trace_writer *writer, const struct trace_run *run, struct error *err)
{
	writer->kind = TRACE_BLOCK_HEAD;
	trace_writer_add_text(writer, run->program);
	for (unsigned kind = 0; kind < OP_KIND_COUNT; kind++) {
		trace_writer_add_text(writer, op_descriptions[kind].name);
		writer->item_count++;
	}
	return end_block(writer, err);
}

static int write_threads(
	struct trace_writer *writer, const struct trace_run *run, struct error *err)
{
	int status = 0;

	writer->kind = TRACE_BLOCK_THREADS;
	for (uint32_t i = 0; i < run->thread_count && !status; i++) {
		const struct trace_thread *thread = &run->threads[i];

		trace_writer_add_text(writer, thread->path);
		trace_writer_add_text(writer, thread->label);
		add_number(writer, thread->create_site, 8);
		add_number(writer, thread->start, 8);
		status = end_item(writer, err);
	}
	if (!status && writer->item_count)
		status = end_block(writer, err);
	writer->kind = TRACE_BLOCK_EVENTS;
	return status;
}

static void writer_free(struct trace_writer *writer)
{
	strbuf_release(&writer->block);
	free(writer->stored);
	free(writer->path);
	free(writer);
}

void trace_writer_abandon(struct trace_writer *writer)
{
	if (writer->file)
		(void)fclose(writer->file); /* the file is removed below */
	if (writer->path)
		(void)unlink(writer->path); /* fails only if the file was never created */
	if (writer->bytes) {
		free(*writer->bytes);
		*writer->bytes = NULL;
	}
	writer_free(writer);
}

/* Takes ownership of `writer`; writer->file NULL: opening failed with errno. */
static int trace_writer_open_stream(struct trace_writer **out, struct trace_writer *writer,
	const struct trace_run *run, struct error *err)
{
	int status;

	BUG_ON(run->thread_count > THREAD_CAPACITY);
	strbuf_init(&writer->block);
	writer->thread_count = run->thread_count;
	if (!writer->file) {
		status = writer_error(writer, err);
		writer_free(writer);
		return status;
	}
	status = write_header(writer, err);
	if (!status)
		status = write_head(writer, run, err);
	if (!status)
		status = write_threads(writer, run, err);
	if (status)
		trace_writer_abandon(writer);
	else
		*out = writer;
	return status;
}

int trace_writer_open(
	struct trace_writer **out, const char *path, const struct trace_run *run, struct error *err)
{
	struct trace_writer *writer = calloc(1, sizeof *writer);

	BUG_ON(!writer);
	writer->path = strdup(path);
	BUG_ON(!writer->path);
	writer->file = fopen(path, "wbe");
	return trace_writer_open_stream(out, writer, run, err);
}

int trace_writer_open_memory(struct trace_writer **out, char **bytes, size_t *size,
	const struct trace_run *run, struct error *err)
{
	struct trace_writer *writer = calloc(1, sizeof *writer);

	BUG_ON(!writer);
	*bytes = NULL;
	writer->bytes = bytes;
	writer->file = open_memstream(bytes, size);
	return trace_writer_open_stream(out, writer, run, err);
}

int trace_writer_add(struct trace_writer *writer, const struct trace_event *events, uint64_t count,
	struct error *err)
{
	int status = 0;

	for (uint64_t i = 0; i < count && !status; i++) {
		const struct trace_event *event = &events[i];

		BUG_ON(event->thread >= writer->thread_count || event->kind >= OP_KIND_COUNT ||
			event->step < writer->last_step);
		add_number(writer, event->step, 8);
		add_number(writer, event->site, 8);
		add_number(writer, event->address, 8);
		add_number(writer, event->object, 4);
		add_number(writer, event->thread, 2);
		add_number(writer, event->kind, 1);
		add_number(writer, event->enabled, 1);
		for (unsigned caller = 0; caller < TRACE_CALLERS; caller++)
			add_number(writer, event->callers[caller], 8);
		add_number(writer, event->bytes, 4);
		add_number(writer, event->order, 1);
		add_number(writer, event->call, 1);
		add_number(writer, event->result, 1);
		add_number(writer, event->number, 2);
		add_number(writer, event->other, 2);
		writer->last_step = event->step;
		writer->event_count++;
		status = end_item(writer, err);
	}
	return status;
}

static void trace_writer_add_edge(struct trace_writer *writer, const struct wait_edge *edge)
{
	add_number(writer, edge->waiter.index, 2);
	add_number(writer, edge->holder.index, 2);
	add_number(writer, edge->op, 1);
	add_number(writer, (edge->is_on_cycle ? 1 : 0) | (edge->is_in_child ? 2 : 0), 1);
	add_number(writer, edge->lost_signals, 2);
	add_number(writer, edge->object, 4);
	add_number(writer, edge->object_address, 8);
	add_number(writer, edge->site, 8);
	add_number(writer, edge->holder_site, 8);
	writer->item_count++;
}

static int write_end(struct trace_writer *writer, const struct outcome *outcome,
	uint64_t events_dropped, struct error *err)
{
	char text[sizeof outcome->text + 1] = {0};

	memcpy(text, outcome->text, sizeof outcome->text);
	writer->kind = TRACE_BLOCK_END;
	add_number(writer, writer->event_count, 8);
	add_number(writer, events_dropped, 8);
	trace_writer_add_text(writer, outcome_descriptions[outcome->kind].word);
	add_number(writer, outcome->thread.index, 2);
	add_number(writer, (uint32_t)outcome->code, 4);
	add_number(writer, outcome->step, 8);
	add_number(writer, outcome->site, 8);
	add_number(writer, outcome->address, 8);
	add_number(writer, outcome->clock_ns, 8);
	add_number(writer, outcome->waits_left_out, 4);
	add_number(writer, outcome->op, 1);
	add_number(writer, outcome->other_op, 1);
	add_number(writer, outcome->other_thread.index, 2);
	add_number(writer, outcome->other_step, 8);
	add_number(writer, outcome->other_site, 8);
	trace_writer_add_text(writer, text);
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		trace_writer_add_edge(writer, &outcome->waits[i]);
	return end_block(writer, err);
}

int trace_writer_finish(struct trace_writer *writer, const struct outcome *outcome,
	uint64_t events_dropped, struct error *err)
{
	int status = writer->item_count ? end_block(writer, err) : 0;

	BUG_ON(outcome->kind >= OUTCOME_KIND_COUNT || outcome->wait_count > OUTCOME_WAITS_MAX);
	if (!status)
		status = write_end(writer, outcome, events_dropped, err);
	if (!status && fflush(writer->file))
		status = writer_error(writer, err);
	/* EINVAL: this kind of file cannot be synced, for example a pipe. */
	if (!status && writer->path && fsync(fileno(writer->file)) && errno != EINVAL)
		status = writer_error(writer, err);
	if (!status) {
		FILE *file = writer->file;

		writer->file = NULL;
		if (fclose(file))
			status = writer_error(writer, err);
	}
	if (status)
		trace_writer_abandon(writer);
	else
		writer_free(writer);
	return status;
}
