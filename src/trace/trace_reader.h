/*
 * Reads a trace file block by block. The file is not trusted: the reader refuses damaged, truncated
 * and newer files with a one-line message. No count in the file makes it allocate more than the
 * format allows.
 */
#ifndef RADDLE_TRACE_TRACE_READER_H
#define RADDLE_TRACE_TRACE_READER_H

#include <stddef.h>

#include "trace/trace.h"

struct trace_reader;

/* Reads program and threads. `path` is for messages. The caller closes *out. */
int trace_reader_open(struct trace_reader **out, const char *path, struct error *err);
/* The same from memory, which must stay valid until the reader is closed. */
int trace_reader_open_memory(struct trace_reader **out, const void *bytes, size_t size,
	const char *path, struct error *err);
void trace_reader_close(struct trace_reader *reader);

/*
 * Sets *events, valid until the next call; *count is 0 at the end: then the file was valid, and
 * trace_reader_run() complete.
 */
int trace_reader_next(struct trace_reader *reader, const struct trace_event **events,
	uint32_t *count, struct error *err);

/* Validates a whole trace. Returns 0, or the first defect; `name` is used in the message. */
int trace_check(const void *bytes, size_t size, const char *name, struct error *err);

/* Returns program and threads, and the totals after the end. Valid as long as the reader. */
const struct trace_run *trace_reader_run(const struct trace_reader *reader);

#endif
