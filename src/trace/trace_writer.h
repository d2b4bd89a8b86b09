/*
 * Writes a trace file; equal input gives equal bytes. For the command only: calls bug_report() when
 * out of memory.
 */
#ifndef RADDLE_TRACE_TRACE_WRITER_H
#define RADDLE_TRACE_TRACE_WRITER_H

#include <stddef.h>

#include "trace/trace.h"

struct trace_writer;

/* Creates or replaces the file, with program and threads of `run`. On failure no file is left. */
int trace_writer_open(struct trace_writer **out, const char *path, const struct trace_run *run,
	struct error *err);
/*
 * Into memory: trace_writer_finish() sets *bytes, which the caller frees, and *size. After a
 * failure or trace_writer_abandon() *bytes is NULL.
 */
int trace_writer_open_memory(struct trace_writer **out, char **bytes, size_t *size,
	const struct trace_run *run, struct error *err);
/* Appends events. They must name threads of the run and be ordered by step (checked by BUG_ON). */
int trace_writer_add(struct trace_writer *writer, const struct trace_event *events, uint64_t count,
	struct error *err);
/* Completes and syncs the file and frees the writer. On failure the file is removed. */
int trace_writer_finish(struct trace_writer *writer, const struct outcome *outcome,
	uint64_t events_dropped, struct error *err);
/* Frees the writer and removes the file. */
void trace_writer_abandon(struct trace_writer *writer);

#endif
