#include "trace/trace_writer.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "trace/trace_format_internal.h"

/* A trace of 10^6 events has 465 kB; at zstd's default level, 3, it has 645 kB. */
#define COMPRESSION_LEVEL 6

struct trace_writer {
	struct strbuf trace; /* the header and the finished blocks */
	struct strbuf block; /* uncompressed items of the open block */
	enum trace_block_kind kind;
	uint32_t item_count; /* items in the open block */
	uint32_t thread_count;
	uint64_t event_count;
	uint64_t last_step;
	void *stored; /* buffer for a compressed block */
	size_t stored_capacity;
};

static void trace_writer_add_number(struct trace_writer *writer, uint64_t value, unsigned size)
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
	trace_writer_add_number(writer, length, 2);
	strbuf_add(&writer->block, text ? text : "", length);
}

/* Compresses the open block into the trace, and starts another one of the same kind. */
static void trace_writer_end_block(struct trace_writer *writer)
{
	unsigned char header[TRACE_BLOCK_HEADER_BYTES];
	const size_t needed = ZSTD_compressBound(writer->block.length);
	size_t stored;

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
	strbuf_add(&writer->trace, (const char *)header, sizeof header);
	strbuf_add(&writer->trace, writer->stored, stored);
	strbuf_clear(&writer->block);
	writer->item_count = 0;
}

/* Ends an item, and the block if it has reached its target size. */
static void trace_writer_end_item(struct trace_writer *writer)
{
	writer->item_count++;
	if (writer->block.length >= TRACE_BLOCK_TARGET)
		trace_writer_end_block(writer);
}

static void trace_writer_add_header(struct trace_writer *writer)
{
	unsigned char header[TRACE_HEADER_BYTES] = TRACE_MAGIC;

	bytes_put(header + 8, TRACE_VERSION, 4);
	bytes_put(header + 16, hash_bytes(header, 16), 8);
	strbuf_add(&writer->trace, (const char *)header, sizeof header);
}

static void trace_writer_add_head(struct trace_writer *writer, const struct trace_run *run)
{
	writer->kind = TRACE_BLOCK_HEAD;
	trace_writer_add_text(writer, run->program);
	for (unsigned kind = 0; kind < OP_KIND_COUNT; kind++) {
		trace_writer_add_text(writer, op_descriptions[kind].name);
		writer->item_count++;
	}
	trace_writer_end_block(writer);
}

static void trace_writer_add_threads(struct trace_writer *writer, const struct trace_run *run)
{
	writer->kind = TRACE_BLOCK_THREADS;
	for (uint32_t i = 0; i < run->thread_count; i++) {
		const struct trace_thread *thread = &run->threads[i];

		trace_writer_add_text(writer, thread->path);
		trace_writer_add_text(writer, thread->label);
		trace_writer_add_number(writer, thread->create_site, 8);
		trace_writer_add_number(writer, thread->start, 8);
		trace_writer_end_item(writer);
	}
	if (writer->item_count)
		trace_writer_end_block(writer);
	writer->kind = TRACE_BLOCK_EVENTS;
}

struct trace_writer *trace_writer_new(const struct trace_run *run)
{
	struct trace_writer *writer = array_new(1, sizeof *writer);

	BUG_ON(run->thread_count > THREAD_CAPACITY);
	strbuf_init(&writer->trace);
	strbuf_init(&writer->block);
	writer->thread_count = run->thread_count;
	trace_writer_add_header(writer);
	trace_writer_add_head(writer, run);
	trace_writer_add_threads(writer, run);
	return writer;
}

void trace_writer_add(struct trace_writer *writer, const struct trace_event *events, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		const struct trace_event *event = &events[i];

		BUG_ON(event->thread >= writer->thread_count || event->kind >= OP_KIND_COUNT ||
			event->step < writer->last_step);
		trace_writer_add_number(writer, event->step - writer->last_step, 8);
		trace_writer_add_number(writer, event->site, 8);
		trace_writer_add_number(writer, event->address, 8);
		trace_writer_add_number(writer, event->object, 4);
		trace_writer_add_number(writer, event->thread, 2);
		trace_writer_add_number(writer, event->kind, 1);
		trace_writer_add_number(writer, event->enabled, 1);
		for (unsigned caller = 0; caller < TRACE_CALLERS; caller++)
			trace_writer_add_number(writer, event->callers[caller], 8);
		trace_writer_add_number(writer, event->bytes, 4);
		trace_writer_add_number(writer, event->order, 1);
		trace_writer_add_number(writer, event->call, 1);
		trace_writer_add_number(writer, event->result, 1);
		trace_writer_add_number(writer, event->number, 2);
		trace_writer_add_number(writer, event->other, 2);
		writer->last_step = event->step;
		writer->event_count++;
		trace_writer_end_item(writer);
	}
}

static void trace_writer_add_edge(struct trace_writer *writer, const struct wait_edge *edge)
{
	trace_writer_add_number(writer, edge->waiter.index, 2);
	trace_writer_add_number(writer, edge->holder.index, 2);
	trace_writer_add_number(writer, edge->op, 1);
	trace_writer_add_number(writer,
		(edge->is_on_cycle ? 1 : 0) | (edge->is_in_child ? 2 : 0) |
			(edge->is_in_handler ? 4 : 0),
		1);
	trace_writer_add_number(writer, edge->lost_signals, 2);
	trace_writer_add_number(writer, edge->object, 4);
	trace_writer_add_number(writer, edge->object_address, 8);
	trace_writer_add_number(writer, edge->site, 8);
	trace_writer_add_number(writer, edge->holder_site, 8);
	writer->item_count++;
}

static void trace_writer_add_end(
	struct trace_writer *writer, const struct outcome *outcome, uint64_t events_dropped)
{
	char text[sizeof outcome->text + 1] = {0};

	memcpy(text, outcome->text, sizeof outcome->text);
	writer->kind = TRACE_BLOCK_END;
	trace_writer_add_number(writer, writer->event_count, 8);
	trace_writer_add_number(writer, events_dropped, 8);
	trace_writer_add_text(writer, outcome_descriptions[outcome->kind].word);
	trace_writer_add_number(writer, outcome->thread.index, 2);
	trace_writer_add_number(writer, (uint32_t)outcome->code, 4);
	trace_writer_add_number(writer, outcome->step, 8);
	trace_writer_add_number(writer, outcome->site, 8);
	trace_writer_add_number(writer, outcome->address, 8);
	trace_writer_add_number(writer, outcome->clock_ns, 8);
	trace_writer_add_number(writer, outcome->waits_left_out, 4);
	trace_writer_add_number(writer, outcome->op, 1);
	trace_writer_add_number(writer, outcome->other_op, 1);
	trace_writer_add_number(writer, outcome->other_thread.index, 2);
	trace_writer_add_number(writer, outcome->other_step, 8);
	trace_writer_add_number(writer, outcome->other_site, 8);
	trace_writer_add_text(writer, text);
	for (uint32_t i = 0; i < outcome->wait_count; i++)
		trace_writer_add_edge(writer, &outcome->waits[i]);
	trace_writer_end_block(writer);
}

char *trace_writer_finish(struct trace_writer *writer, const struct outcome *outcome,
	uint64_t events_dropped, size_t *size)
{
	char *bytes;

	BUG_ON(outcome->kind >= OUTCOME_KIND_COUNT || outcome->wait_count > OUTCOME_WAITS_MAX);
	if (writer->item_count)
		trace_writer_end_block(writer);
	trace_writer_add_end(writer, outcome, events_dropped);
	*size = writer->trace.length;
	bytes = strbuf_detach(&writer->trace);
	strbuf_release(&writer->trace);
	strbuf_release(&writer->block);
	free(writer->stored);
	free(writer);
	return bytes;
}
