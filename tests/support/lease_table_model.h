/*
 * Ranks, messages and the distributing rank, as a model without any of them: how busy would so many
 * ranks be? Rank 0 deals with one message after the other. Times in nanoseconds; the same seed
 * gives the same result.
 */
#pragma once

#include <stdlib.h>

#include "base/bug.h"
#include "base/rng.h"
#include "parallel/remote/lease_table.h"

struct lease_table_model {
	uint32_t ranks;
	uint64_t runs;
	uint64_t
		run_ns; /* time of a run on a rank of average speed; ranks differ by up to a quarter */
	uint64_t unit_ns; /* duration of a unit as given to ranks */
	uint64_t
		start_ns; /* time of a rank to start a unit: a process, learning the shared memory */
	uint64_t message_ns; /* delay of a message */
	uint64_t answer_ns;  /* time of rank 0 to handle a message */
	uint64_t seed;
};

struct lease_table_outcome {
	double busy;   /* part of all ranks' time until the end in which they had a unit */
	double useful; /* part of all ranks' time until the end in which they made runs */
	double rank_0; /* part of its time in which it dealt with messages */
	double seconds;
	uint64_t units, made;
};

/* A rank that asks, at a time. */
struct lease_table_event {
	uint64_t at_ns;
	uint32_t rank;
};

/* A heap with the earliest one first. */
struct lease_table_queue {
	struct lease_table_event *events;
	uint32_t count;
};

static inline bool lease_table_is_before(
	const struct lease_table_event *a, const struct lease_table_event *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->rank < b->rank;
}

static inline void lease_table_push(struct lease_table_queue *queue, struct lease_table_event event)
{
	uint32_t at = queue->count++;

	for (; at && lease_table_is_before(&event, &queue->events[(at - 1) / 2]); at = (at - 1) / 2)
		queue->events[at] = queue->events[(at - 1) / 2];
	queue->events[at] = event;
}

static inline struct lease_table_event lease_table_pop(struct lease_table_queue *queue)
{
	const struct lease_table_event first = queue->events[0];
	const struct lease_table_event last = queue->events[--queue->count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= queue->count)
			break;
		child += child + 1 < queue->count &&
			 lease_table_is_before(&queue->events[child + 1], &queue->events[child]);
		if (!lease_table_is_before(&queue->events[child], &last))
			break;
		queue->events[at] = queue->events[child];
		at = child;
	}
	queue->events[at] = last;
	return first;
}

static inline struct lease_table_outcome lease_table_simulate(const struct lease_table_model *model)
{
	const struct lease_table_options options = {.ranks = model->ranks,
		.end = model->runs,
		.unit_ns = model->unit_ns,
		.silent_ns = UINT64_MAX};
	struct lease_table *leases = lease_table_new(&options);
	struct lease_table_queue queue = {calloc(model->ranks, sizeof *queue.events), 0};
	uint64_t *took_ns = calloc(model->ranks, sizeof *took_ns); /* 0: it has no unit */
	uint64_t *pace = calloc(model->ranks, sizeof *pace);
	uint64_t free_ns = 0, dealt_ns = 0, had_ns = 0, run_ns = 0, end_ns = 0;
	struct lease_table_outcome outcome = {0};
	struct rng rng;

	BUG_ON(!queue.events || !took_ns || !pace);
	rng_seed(&rng, model->seed);
	for (uint32_t rank = 0; rank < model->ranks; rank++) {
		pace[rank] = model->run_ns * 3 / 4 + rng_below64(&rng, model->run_ns / 2 + 1);
		lease_table_push(&queue, (struct lease_table_event){model->message_ns, rank});
	}
	while (queue.count) {
		const struct lease_table_event event = lease_table_pop(&queue);
		struct lease_table_unit unit;

		free_ns = (event.at_ns > free_ns ? event.at_ns : free_ns) + model->answer_ns;
		dealt_ns += model->answer_ns;
		if (took_ns[event.rank])
			(void)lease_table_done(leases, event.rank, free_ns, took_ns[event.rank]);
		took_ns[event.rank] = 0;
		if (lease_table_ask(leases, event.rank, free_ns, &unit) != LEASE_UNIT)
			continue; /* no rank falls silent here: no unit returns */
		took_ns[event.rank] = model->start_ns + (unit.end - unit.first) * pace[event.rank];
		outcome.units++;
		had_ns += took_ns[event.rank];
		run_ns += took_ns[event.rank] - model->start_ns;
		end_ns = free_ns + model->message_ns + took_ns[event.rank];
		lease_table_push(
			&queue, (struct lease_table_event){end_ns + model->message_ns, event.rank});
	}
	outcome.made = lease_table_made_below(leases);
	outcome.seconds = (double)free_ns / 1e9;
	outcome.busy = (double)had_ns / ((double)free_ns * model->ranks);
	outcome.useful = (double)run_ns / ((double)free_ns * model->ranks);
	outcome.rank_0 = (double)dealt_ns / (double)free_ns;
	free(queue.events);
	free(took_ns);
	free(pace);
	lease_table_free(leases);
	return outcome;
}
