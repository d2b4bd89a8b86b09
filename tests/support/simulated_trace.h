/*
 * The Mazurkiewicz trace of a run as a number: equal for runs that differ only in the order of
 * independent ops.
 */
#pragma once

#include <stdint.h>

#include "base/bug.h"
#include "base/hash.h"
#include "strategies/dpor/dpor.h"
#include "strategies/strategy.h"

#define SIMULATED_EVENTS_MOST 64

struct simulated_trace {
	struct dpor_op ops[SIMULATED_EVENTS_MOST];
	uint64_t past[SIMULATED_EVENTS_MOST]; /* bit set of events that happen before it */
	uint32_t count;
	uint32_t creator[8];
};

static inline void simulated_trace_add(
	void *context, const struct schedule_view *view, struct thread_id chosen)
{
	struct simulated_trace *trace = context;
	const struct pending_op *op = &view->pending[chosen.index];
	const uint32_t self = trace->count++;

	BUG_ON(self >= SIMULATED_EVENTS_MOST);
	trace->ops[self] = (struct dpor_op){.object = op->object,
		.kind = op->kind,
		.flags = op->flags,
		.second = op->second,
		.untouched = op->untouched,
		.thread = (uint8_t)chosen.index};
	trace->past[self] = 0;
	for (uint32_t i = 0; i < self; i++)
		if (trace->ops[i].thread == chosen.index ||
			dpor_dependent(&trace->ops[i], &trace->ops[self]))
			trace->past[self] |= trace->past[i] | UINT64_C(1) << i;
}

/* Equal for equal traces: a sum over events, each known by its thread and number in it. */
static inline uint64_t simulated_trace_hash(const struct simulated_trace *trace)
{
	uint32_t ordinal[SIMULATED_EVENTS_MOST], next[16] = {0};
	uint64_t hash = 0;

	for (uint32_t i = 0; i < trace->count; i++)
		ordinal[i] = next[trace->ops[i].thread]++;
	for (uint32_t i = 0; i < trace->count; i++) {
		uint64_t event = hash_pair(trace->ops[i].thread, ordinal[i]);
		uint64_t past = 0;

		for (uint32_t j = 0; j < i; j++)
			if (trace->past[i] >> j & 1)
				past += hash_pair(trace->ops[j].thread + 100, ordinal[j]);
		hash += hash_pair(event, past);
	}
	return hash;
}
