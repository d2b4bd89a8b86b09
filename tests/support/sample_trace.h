/* A trace with something in every field, for tests of writer, reader and dump. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "trace/trace_writer.h"

#define SAMPLE_THREADS 3

static const struct trace_thread sample_threads[SAMPLE_THREADS] = {
	{.path = "main"},
	{.path = "main.0", .label = "worker", .create_site = 0x401000, .start = 0x402000},
	{.path = "main.0.65534"},
};

static inline struct trace_event sample_event(uint64_t number)
{
	return (struct trace_event){.step = number,
		.site = 0x401136 + number % 7,
		.address = number % 3 ? 0x404040 + 40 * (number % 3) : 0,
		.object = (object_name)(number * 2654435761u),
		.thread = (uint16_t)(number % SAMPLE_THREADS),
		.kind = (uint8_t)(1 + number % (OP_KIND_COUNT - 1)),
		.enabled = (uint8_t)(number % 4),
		.bytes = (uint32_t)(number % 9),
		.order = (uint8_t)(number % 6),
		.call = (uint8_t)(number % CALL_KIND_COUNT),
		.result = (uint8_t)(number % 4),
		.number = (uint16_t)(number * 263),
		.other = (uint16_t)(number % (SAMPLE_THREADS + 1)),
		.callers = {0x403000 + number % 5, 0x403100}};
}

static inline struct outcome sample_outcome(void)
{
	struct outcome outcome;

	outcome_set(&outcome, OUTCOME_DEADLOCK, (struct thread_id){1}, -3);
	outcome.step = 77;
	outcome.site = 0x401234;
	outcome.address = 0x404068;
	outcome.clock_ns = UINT64_MAX;
	outcome.wait_count = 2;
	outcome.waits_left_out = 5;
	outcome.op = OP_STORE;
	outcome.other_op = OP_LOAD;
	outcome.other_thread.index = 2;
	outcome.other_step = 41;
	outcome.other_site = 0x401400;
	memset(outcome.waits, 0, sizeof outcome.waits);
	outcome.waits[0] = (struct wait_edge){.waiter = {1},
		.holder = {2},
		.op = OP_MUTEX_LOCK,
		.is_on_cycle = 1,
		.object = 9,
		.object_address = 0x404068,
		.site = 0x401300,
		.holder_site = 0x401310};
	outcome.waits[1] = (struct wait_edge){
		.waiter = {2}, .holder = THREAD_NONE, .op = OP_COND_WAKE, .lost_signals = 2};
	memset(outcome.text, 0, sizeof outcome.text);
	strcpy(outcome.text, "a remark");
	return outcome;
}

/* The sample with so many events, to be freed. */
static inline char *make_sample_trace(uint64_t event_count, size_t *size)
{
	const struct trace_run run = {.program = "./bank --two words",
		.threads = sample_threads,
		.thread_count = SAMPLE_THREADS};
	const struct outcome outcome = sample_outcome();
	struct trace_writer *writer = trace_writer_new(&run);

	for (uint64_t i = 0; i < event_count; i++) {
		const struct trace_event event = sample_event(i);

		trace_writer_add(writer, &event, 1);
	}
	return trace_writer_finish(writer, &outcome, 6, size);
}
