/*
 * Reads a trace file block by block. Trusts nothing: a damaged, cut or future file is refused in
 * one line, and no count in it makes the reader allocate more than the format allows.
 */
#ifndef RADDLE_TRACE_TRACE_READER_H
#define RADDLE_TRACE_TRACE_READER_H

#include <stddef.h>

#include "trace/trace.h"

struct trace_reader;

/* Reads program and threads. `path` names the file in messages. */
int trace_reader_open(struct trace_reader **out, const char *path, struct error *err);
/* The same from memory, which must stay until the reader is closed. */
int trace_reader_open_memory(struct trace_reader **out, const void *bytes, size_t size,
	const char *path, struct error *err);
void trace_reader_close(struct trace_reader *reader);

/*
 * The next events, valid until the next call. *count is 0 when there are no more: then the file was
 * whole, and outcome, event_count and events_dropped of trace_reader_run() are filled.
 */
int trace_reader_next(struct trace_reader *reader, const struct trace_event **events,
	uint32_t *count, struct error *err);

/* Reads a whole trace and keeps nothing: 0, or the first defect. `name` names the trace in the message. */
int trace_check(const void *bytes, size_t size, const char *name, struct error *err);

/* Program and threads, and what trace_reader_next() filled; lives as long as the reader. */
const struct trace_run *trace_reader_run(const struct trace_reader *reader);

#endif
