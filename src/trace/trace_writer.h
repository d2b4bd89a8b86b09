/*
 * Writes a trace file: open, add events as often as wanted, finish. Equal input gives equal bytes.
 * For the command's side; ends the process through bug_report() when memory is exhausted.
 */
#ifndef RADDLE_TRACE_TRACE_WRITER_H
#define RADDLE_TRACE_TRACE_WRITER_H

#include <stddef.h>

#include "trace/trace.h"

struct trace_writer;

/*
 * Creates or replaces the file and writes program and threads of `run` (the rest of it is not
 * read). On failure no file is left behind.
 */
int trace_writer_open(struct trace_writer **out, const char *path, const struct trace_run *run,
	struct error *err);
/*
 * The same into memory: finish() sets *bytes (to be freed by the caller) and *size; both must stay
 * until then. Abandoned or failed, *bytes is NULL.
 */
int trace_writer_open_memory(struct trace_writer **out, char **bytes, size_t *size,
	const struct trace_run *run, struct error *err);
/* Events must name threads of the run and be in the order of their steps (checked by BUG_ON). */
int trace_writer_add(struct trace_writer *writer, const struct trace_event *events, uint64_t count,
	struct error *err);
/* Ends the file, syncs it and frees the writer, also on failure; then the file is removed. */
int trace_writer_finish(struct trace_writer *writer, const struct outcome *outcome,
	uint64_t events_dropped, struct error *err);
/* Frees the writer and removes the file. */
void trace_writer_abandon(struct trace_writer *writer);

#endif
