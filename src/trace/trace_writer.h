/* Writes a trace into memory, equal bytes for equal input; bug_report() when out of memory. */
#pragma once

#include <stddef.h>

#include "trace/trace.h"

struct trace_writer;

/* Begins a trace with program and threads of `run`; other fields of `run` are not read. */
struct trace_writer *trace_writer_new(const struct trace_run *run);
/* Appends events. They must name threads of the run and be ordered by step (checked by BUG_ON). */
void trace_writer_add(
	struct trace_writer *writer, const struct trace_event *events, uint64_t count);
/* Frees the writer and returns the trace, which the caller frees; *size: its bytes. */
char *trace_writer_finish(struct trace_writer *writer, const struct outcome *outcome,
	uint64_t events_dropped, size_t *size);
