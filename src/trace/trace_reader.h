/*
 * Reads a trace block by block. The trace is not trusted: the reader refuses damaged, truncated and
 * newer files with a one-line message. A count in the trace never makes the reader allocate more
 * than the format allows.
 */
#pragma once

#include <stddef.h>

#include "trace/trace.h"

struct trace_reader;

/*
 * Opens the trace in this memory, which must stay valid until the reader is closed, and reads program
 * and threads. `name` is used in messages. The caller closes *out.
 */
int trace_reader_open(struct trace_reader **out, const void *bytes, size_t size, const char *name,
	struct error *err);
void trace_reader_close(struct trace_reader *reader);

/* Sets *events, valid until the next call; *count 0: the end, trace_reader_run() is complete. */
int trace_reader_next(struct trace_reader *reader, const struct trace_event **events,
	uint32_t *count, struct error *err);

/* Validates a whole trace. Returns 0, or the first defect; `name` is used in the message. */
int trace_check(const void *bytes, size_t size, const char *name, struct error *err);

/* Returns program and threads, and the totals after the end. Valid as long as the reader. */
const struct trace_run *trace_reader_run(const struct trace_reader *reader);
