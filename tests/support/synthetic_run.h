/*
 * A run of a program that does not exist, as a trace: for tests of analyses. Threads are identified
 * by their paths; every event gets a site of its own thread and line, so that code can be compared.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "model/op.h"
#include "trace/trace_reader.h"
#include "trace/trace_writer.h"

#define SYNTHETIC_EVENTS_MAX 256

struct synthetic_run {
	const struct trace_thread *threads;
	uint32_t thread_count;
	struct trace_event events[SYNTHETIC_EVENTS_MAX];
	uint32_t event_count;
};

/* Thread `thread` performs `kind` on the object with this number (0: none) in line `line`. */
static inline void synthetic_add(struct synthetic_run *run, uint16_t thread, enum op_kind kind,
	uint32_t object, uint32_t line)
{
	run->events[run->event_count] = (struct trace_event){.step = run->event_count,
		.site = 0x401000 + line,
		.address = object ? 0x404000 + 64 * (uint64_t)object : 0,
		.object = object,
		.thread = thread,
		.kind = (uint8_t)kind,
		.enabled = 1};
	run->event_count++;
}

/* The record by which the run speaks of a thread that ends or is joined. */
static inline void synthetic_end(struct synthetic_run *run, uint16_t thread)
{
	synthetic_add(run, thread, OP_THREAD_EXIT, 1000 + thread, 900);
}

static inline void synthetic_join(
	struct synthetic_run *run, uint16_t thread, uint16_t joined, uint32_t line)
{
	synthetic_add(run, thread, OP_THREAD_JOIN, 1000 + joined, line);
}

/* A reader of the run; *bytes is freed after it has been closed. 0, or an error code. */
static inline int synthetic_open(
	const struct synthetic_run *run, struct trace_reader **reader, char **bytes)
{
	const struct trace_run about = {
		.program = "synthetic", .threads = run->threads, .thread_count = run->thread_count};
	struct trace_writer *writer;
	struct outcome outcome;
	size_t size;

	outcome_set(&outcome, OUTCOME_PASSED, (struct thread_id){0}, 0);
	writer = trace_writer_new(&about);
	trace_writer_add(writer, run->events, run->event_count);
	*bytes = trace_writer_finish(writer, &outcome, 0, &size);
	return trace_reader_open(reader, *bytes, size, "synthetic", NULL);
}
