#include "trace/trace_reader.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/array.h"
#include "base/bug.h"
#include "base/strbuf.h"
#include "trace/schedule_text.h"
#include "trace/trace_format_internal.h"

/* Extracts items from a block. A read beyond its end sets is_bad and returns zeros. */
struct block_cursor {
	const unsigned char *at, *end;
	bool is_bad;
};

/* The characters of operation names; other characters of an untrusted name are not printed. */
#define NAME_LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZ_"

struct trace_reader {
	struct block_cursor rest; /* the bytes of the trace that were not read yet */
	char *name;		  /* name of the trace, in messages */
	struct trace_run run;
	/* The array behind run.threads; the reader owns the strings */
	struct trace_thread *threads;
	char *program;
	/* Maps the operation kinds of the file to those of this version. */
	uint8_t kinds[256];
	uint32_t kind_count;
	struct trace_block_header header; /* header of the block in `plain` */
	struct block_cursor cursor;	  /* position in that block */
	unsigned char *plain;		  /* TRACE_BLOCK_MAX bytes */
	struct trace_event *events;
	uint64_t last_step;
	bool has_block; /* `plain` holds a block that trace_reader_next() has not processed */
	bool is_over;
};

static int trace_reader_refuse(struct trace_reader *reader, const char *cause, struct error *err)
{
	return error_set(err, ERROR_FORMAT,
		"the trace %s is damaged: %s; record it again with `raddle replay --trace`",
		reader->name, cause);
}

static uint64_t trace_reader_take_number(struct block_cursor *cursor, unsigned size)
{
	uint64_t value;

	if ((size_t)(cursor->end - cursor->at) < size) {
		cursor->is_bad = true;
		cursor->at = cursor->end;
		return 0;
	}
	value = bytes_get(cursor->at, size);
	cursor->at += size;
	return value;
}

static char *trace_reader_take_text(struct block_cursor *cursor)
{
	const size_t length = trace_reader_take_number(cursor, 2);
	char *text;

	if ((size_t)(cursor->end - cursor->at) < length || memchr(cursor->at, '\0', length)) {
		cursor->is_bad = true;
		cursor->at = cursor->end;
		return strdup("");
	}
	text = strndup((const char *)cursor->at, length);
	cursor->at += length;
	return text;
}

/* Returns the next bytes of the trace. Returns NULL if fewer are left. */
static const unsigned char *trace_reader_take_bytes(struct block_cursor *cursor, size_t size)
{
	const unsigned char *bytes = cursor->at;

	if ((size_t)(cursor->end - cursor->at) < size)
		return NULL;
	cursor->at += size;
	return bytes;
}

/* Reads the next block, which the cursor then covers. Verifies checksums and sizes. */
static int trace_reader_read_block(
	struct trace_reader *reader, struct block_cursor *cursor, struct error *err)
{
	const unsigned char *bytes =
		trace_reader_take_bytes(&reader->rest, TRACE_BLOCK_HEADER_BYTES);
	struct trace_block_header *header = &reader->header;
	const unsigned char *stored;
	size_t plain;

	if (!bytes)
		return trace_reader_refuse(reader, "it ends too early", err);
	header->kind = (uint32_t)bytes_get(bytes, 4);
	header->item_count = (uint32_t)bytes_get(bytes + 4, 4);
	header->plain_bytes = (uint32_t)bytes_get(bytes + 8, 4);
	header->stored_bytes = (uint32_t)bytes_get(bytes + 12, 4);
	header->checksum = bytes_get(bytes + 16, 8);
	if (bytes_get(bytes + 24, 8) != hash_bytes(bytes, 24) ||
		header->plain_bytes > TRACE_BLOCK_MAX ||
		header->stored_bytes > ZSTD_compressBound(TRACE_BLOCK_MAX))
		return trace_reader_refuse(reader, "the head of a block is wrong", err);
	stored = trace_reader_take_bytes(&reader->rest, header->stored_bytes);
	if (!stored)
		return trace_reader_refuse(reader, "it ends too early", err);
	if (hash_bytes(stored, header->stored_bytes) != header->checksum)
		return trace_reader_refuse(reader, "a checksum is wrong", err);
	plain = ZSTD_decompress(reader->plain, TRACE_BLOCK_MAX, stored, header->stored_bytes);
	if (ZSTD_isError(plain) || plain != header->plain_bytes)
		return trace_reader_refuse(reader, "a block cannot be uncompressed", err);
	*cursor = (struct block_cursor){.at = reader->plain, .end = reader->plain + plain};
	return 0;
}

static int trace_reader_read_header(struct trace_reader *reader, struct error *err)
{
	const unsigned char *header = trace_reader_take_bytes(&reader->rest, TRACE_HEADER_BYTES);
	uint64_t version;

	if (!header || memcmp(header, TRACE_MAGIC, 8))
		return error_set(err, ERROR_FORMAT,
			"%s is not a trace; give the file `trace` of a finding", reader->name);
	version = bytes_get(header + 8, 4);
	if (version != TRACE_VERSION)
		return error_set(err, ERROR_VERSION,
			"the trace %s has format version %" PRIu64
			", and this raddle reads version %u; use the raddle that wrote it or record it again",
			reader->name, version, TRACE_VERSION);
	if (bytes_get(header + 16, 8) != hash_bytes(header, 16))
		return trace_reader_refuse(reader, "its head is wrong", err);
	return 0;
}

static int trace_reader_find_kind(const char *name)
{
	for (int kind = 0; kind < OP_KIND_COUNT; kind++)
		if (!strcmp(op_descriptions[kind].name, name))
			return kind;
	return -1;
}

/* Kinds are matched by name, so a version with additional kinds can read older traces. */
static int trace_reader_read_head(struct trace_reader *reader, struct error *err)
{
	struct block_cursor cursor;
	int status = trace_reader_read_block(reader, &cursor, err);

	if (status)
		return status;
	if (reader->header.kind != TRACE_BLOCK_HEAD || reader->header.item_count > 256)
		return trace_reader_refuse(reader, "it does not start with its program", err);
	reader->program = trace_reader_take_text(&cursor);
	BUG_ON(!reader->program);
	reader->run.program = reader->program;
	while (reader->kind_count < reader->header.item_count && !cursor.is_bad) {
		FREE_SCOPED char *name = trace_reader_take_text(&cursor);
		const int kind = name ? trace_reader_find_kind(name) : -1;

		BUG_ON(!name);
		if (kind < 0 && !cursor.is_bad)
			status = error_set(err, ERROR_VERSION,
				"the trace %s has an operation that this raddle does not know (%.*s); use the raddle that wrote it",
				reader->name, (int)strspn(name, NAME_LETTERS), name);
		if (kind < 0)
			break;
		reader->kinds[reader->kind_count++] = (uint8_t)kind;
	}
	if (!status && (cursor.is_bad || cursor.at != cursor.end))
		status = trace_reader_refuse(reader, "the names of operations are wrong", err);
	return status;
}

static int trace_reader_take_thread(
	struct trace_reader *reader, struct block_cursor *cursor, struct error *err)
{
	struct trace_thread *thread;

	if (reader->run.thread_count == THREAD_CAPACITY)
		return trace_reader_refuse(reader, "it has more threads than a run may have", err);
	thread = &reader->threads[reader->run.thread_count++];
	thread->path = trace_reader_take_text(cursor);
	thread->label = trace_reader_take_text(cursor);
	BUG_ON(!thread->path || !thread->label);
	thread->create_site = trace_reader_take_number(cursor, 8);
	thread->start = trace_reader_take_number(cursor, 8);
	if (cursor->is_bad || !thread_path_name(thread->path))
		return trace_reader_refuse(reader, "a thread has no path of creations", err);
	return 0;
}

/* Reads all thread blocks, and the first block after them, which stays in `plain`. */
static int trace_reader_read_threads(struct trace_reader *reader, struct error *err)
{
	int status;

	while (!(status = trace_reader_read_block(reader, &reader->cursor, err)) &&
		reader->header.kind == TRACE_BLOCK_THREADS) {
		for (uint32_t i = 0; i < reader->header.item_count && !status; i++)
			status = trace_reader_take_thread(reader, &reader->cursor, err);
		if (!status && reader->cursor.at != reader->cursor.end)
			status = trace_reader_refuse(
				reader, "the threads do not end where they should", err);
		if (status)
			break;
	}
	return status;
}

static bool trace_reader_take_event(struct trace_reader *reader, struct trace_event *event)
{
	struct block_cursor *cursor = &reader->cursor;
	uint64_t kind;

	/* A sum that wraps around is smaller than the previous step, and refused below. */
	event->step = reader->last_step + trace_reader_take_number(cursor, 8);
	event->site = trace_reader_take_number(cursor, 8);
	event->address = trace_reader_take_number(cursor, 8);
	event->object = (object_name)trace_reader_take_number(cursor, 4);
	event->thread = (uint16_t)trace_reader_take_number(cursor, 2);
	kind = trace_reader_take_number(cursor, 1);
	event->enabled = (uint8_t)trace_reader_take_number(cursor, 1);
	for (unsigned i = 0; i < TRACE_CALLERS; i++)
		event->callers[i] = trace_reader_take_number(cursor, 8);
	event->bytes = (uint32_t)trace_reader_take_number(cursor, 4);
	event->order = (uint8_t)trace_reader_take_number(cursor, 1);
	event->call = (uint8_t)trace_reader_take_number(cursor, 1);
	event->result = (uint8_t)trace_reader_take_number(cursor, 1);
	event->number = (uint16_t)trace_reader_take_number(cursor, 2);
	event->other = (uint16_t)trace_reader_take_number(cursor, 2);
	event->frames[0] = 0; /* the file has no frames */
	if (cursor->is_bad || kind >= reader->kind_count || event->step < reader->last_step ||
		event->thread >= reader->run.thread_count || event->call >= CALL_KIND_COUNT ||
		event->result > RESULT_CANCELLED || event->other > reader->run.thread_count)
		return false;
	event->kind = reader->kinds[kind];
	reader->last_step = event->step;
	return true;
}

static int trace_reader_read_events(struct trace_reader *reader, struct error *err)
{
	const uint32_t count = reader->header.item_count;

	/* Empty blocks are refused: a file could contain any number of them. */
	if (!count || (uint64_t)count * TRACE_EVENT_BYTES != reader->header.plain_bytes)
		return trace_reader_refuse(reader, "a block of events has a wrong length", err);
	for (uint32_t i = 0; i < count; i++)
		if (!trace_reader_take_event(reader, &reader->events[i]))
			return trace_reader_refuse(reader, "an event names what there is not", err);
	reader->run.event_count += count;
	return 0;
}

static bool trace_reader_is_thread(const struct trace_reader *reader, struct thread_id thread)
{
	return thread.index < reader->run.thread_count || thread_same(thread, THREAD_NONE);
}

static bool trace_reader_take_op(struct trace_reader *reader, uint8_t *op)
{
	const uint64_t kind = trace_reader_take_number(&reader->cursor, 1);

	if (reader->cursor.is_bad || kind >= reader->kind_count)
		return false;
	*op = reader->kinds[kind];
	return true;
}

static bool trace_reader_take_edge(struct trace_reader *reader, struct wait_edge *edge)
{
	struct block_cursor *cursor = &reader->cursor;
	uint64_t flags;
	bool is_known;

	edge->waiter.index = (uint16_t)trace_reader_take_number(cursor, 2);
	edge->holder.index = (uint16_t)trace_reader_take_number(cursor, 2);
	is_known = trace_reader_take_op(reader, &edge->op);
	flags = trace_reader_take_number(cursor, 1);
	edge->is_on_cycle = flags & 1;
	edge->is_in_child = flags >> 1 & 1;
	edge->is_in_handler = flags >> 2 & 1;
	edge->lost_signals = (uint16_t)trace_reader_take_number(cursor, 2);
	edge->object = (object_name)trace_reader_take_number(cursor, 4);
	edge->object_address = trace_reader_take_number(cursor, 8);
	edge->site = trace_reader_take_number(cursor, 8);
	edge->holder_site = trace_reader_take_number(cursor, 8);
	return is_known && !cursor->is_bad && trace_reader_is_thread(reader, edge->holder) &&
	       trace_reader_is_thread(reader, edge->waiter);
}

static bool trace_reader_take_kind(struct block_cursor *cursor, uint16_t *kind)
{
	FREE_SCOPED char *word = trace_reader_take_text(cursor);
	bool is_known = false;

	BUG_ON(!word);
	for (uint16_t i = 0; i < OUTCOME_KIND_COUNT && !is_known; i++) {
		is_known = !strcmp(outcome_descriptions[i].word, word);
		*kind = i;
	}
	return is_known;
}

static bool trace_reader_take_outcome(struct trace_reader *reader, struct outcome *outcome)
{
	struct block_cursor *cursor = &reader->cursor;
	FREE_SCOPED char *text = NULL;
	bool is_good = trace_reader_take_kind(cursor, &outcome->kind);

	outcome->thread.index = (uint16_t)trace_reader_take_number(cursor, 2);
	outcome->code = (int32_t)(uint32_t)trace_reader_take_number(cursor, 4);
	outcome->step = trace_reader_take_number(cursor, 8);
	outcome->site = trace_reader_take_number(cursor, 8);
	outcome->address = trace_reader_take_number(cursor, 8);
	outcome->clock_ns = trace_reader_take_number(cursor, 8);
	outcome->waits_left_out = (uint32_t)trace_reader_take_number(cursor, 4);
	is_good &= trace_reader_take_op(reader, &outcome->op);
	is_good &= trace_reader_take_op(reader, &outcome->other_op);
	outcome->other_thread.index = (uint16_t)trace_reader_take_number(cursor, 2);
	outcome->other_step = trace_reader_take_number(cursor, 8);
	outcome->other_site = trace_reader_take_number(cursor, 8);
	is_good &= trace_reader_is_thread(reader, outcome->other_thread);
	text = trace_reader_take_text(cursor);
	BUG_ON(!text);
	is_good &= strlen(text) < sizeof outcome->text &&
		   reader->header.item_count <= OUTCOME_WAITS_MAX &&
		   trace_reader_is_thread(reader, outcome->thread);
	if (is_good)
		memcpy(outcome->text, text, strlen(text) + 1);
	while (is_good && outcome->wait_count < reader->header.item_count)
		is_good = trace_reader_take_edge(reader, &outcome->waits[outcome->wait_count++]);
	return is_good && !cursor->is_bad && cursor->at == cursor->end;
}

static int trace_reader_read_end(struct trace_reader *reader, struct error *err)
{
	struct outcome *outcome = &reader->run.outcome;
	const uint64_t event_count = trace_reader_take_number(&reader->cursor, 8);

	reader->run.events_dropped = trace_reader_take_number(&reader->cursor, 8);
	memset(outcome, 0, sizeof *outcome);
	if (event_count != reader->run.event_count)
		return trace_reader_refuse(reader, "events are missing", err);
	if (!trace_reader_take_outcome(reader, outcome))
		return trace_reader_refuse(reader, "its outcome makes no sense", err);
	if (reader->rest.at != reader->rest.end)
		return trace_reader_refuse(reader, "something follows its end", err);
	reader->is_over = true;
	return 0;
}

int trace_reader_next(struct trace_reader *reader, const struct trace_event **events,
	uint32_t *count, struct error *err)
{
	int status = 0;

	if (!reader->is_over && !reader->has_block)
		status = trace_reader_read_block(reader, &reader->cursor, err);
	reader->has_block = false;
	if (status || reader->is_over) {
		if (!status)
			*count = 0;
		return status;
	}
	switch (reader->header.kind) {
	case TRACE_BLOCK_EVENTS:
		status = trace_reader_read_events(reader, err);
		break;
	case TRACE_BLOCK_END:
		status = trace_reader_read_end(reader, err);
		break;
	default:
		status = trace_reader_refuse(reader, "a block is not where it belongs", err);
	}
	if (status)
		return status;
	*events = reader->events;
	*count = reader->is_over ? 0 : reader->header.item_count;
	return 0;
}

void trace_reader_close(struct trace_reader *reader)
{
	/* The struct trace_thread declares the strings const; the reader owns them. */
	for (uint32_t i = 0; i < reader->run.thread_count; i++) {
		free((void *)(uintptr_t)reader->threads[i].path);
		free((void *)(uintptr_t)reader->threads[i].label);
	}
	free(reader->threads);
	free(reader->program);
	free(reader->plain);
	free(reader->events);
	free(reader->name);
	free(reader);
}

int trace_reader_open(struct trace_reader **out, const void *bytes, size_t size, const char *name,
	struct error *err)
{
	struct trace_reader *reader = array_new(1, sizeof *reader);
	int status;

	reader->rest =
		(struct block_cursor){.at = bytes, .end = (const unsigned char *)bytes + size};
	reader->name = string_copy(name);
	reader->threads = array_new(THREAD_CAPACITY, sizeof *reader->threads);
	reader->run.threads = reader->threads;
	/* The memory is not zeroed, because only the parts that were filled are read. */
	reader->plain = array_new(TRACE_BLOCK_MAX, 1);
	reader->events = array_new(TRACE_BLOCK_MAX / TRACE_EVENT_BYTES, sizeof *reader->events);
	status = trace_reader_read_header(reader, err);
	if (!status)
		status = trace_reader_read_head(reader, err);
	if (!status)
		status = trace_reader_read_threads(reader, err);
	reader->has_block = !status;
	if (status)
		trace_reader_close(reader);
	else
		*out = reader;
	return status;
}

const struct trace_run *trace_reader_run(const struct trace_reader *reader)
{
	return &reader->run;
}

int trace_check(const void *bytes, size_t size, const char *name, struct error *err)
{
	const struct trace_event *events;
	struct trace_reader *reader;
	uint32_t count = 1;
	int status = trace_reader_open(&reader, bytes, size, name, err);

	if (status < 0)
		return status;
	while (status == 0 && count)
		status = trace_reader_next(reader, &events, &count, err);
	trace_reader_close(reader);
	return status;
}
