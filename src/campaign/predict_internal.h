/* What the files that make runs for predictions share. */
#ifndef RADDLE_CAMPAIGN_PREDICT_INTERNAL_H
#define RADDLE_CAMPAIGN_PREDICT_INTERNAL_H

#include "campaign/failure.h"
#include "campaign/predict.h"

/* A passing run. Everything is owned. */
struct recorded_run {
	struct failure run; /* its schedule; it is no failure */
	struct finding_source_thread *threads;
	char (*labels)[16]; /* of the threads, which refer to them */
	uint32_t thread_count;
	struct trace_event *events;
	uint64_t event_count, events_dropped;
	struct memory_block *blocks;
	uint32_t block_count;
	uint64_t run_ns;
};

struct predict {
	const struct predict_options *options;
	const struct campaign_listener *listener;
	struct recorded_run runs[PREDICT_RUNS_MAX];
	uint32_t run_count;
	uint64_t last_ns;	 /* when the last run ended */
	struct symbols *symbols; /* NULL: none could be had, or nobody has asked yet */
	bool has_tried_symbols;
};

/*
 * Gives the objects of a run's events names that hold in other runs as well (predict_objects.c). Those
 * that the runtime gives hold only as long as threads come to new objects in the same order: enough to
 * find an object again in a run that is driven, too little to put runs together.
 */
void predict_name_objects(const struct recorded_run *run, struct trace_event *events);
/* The runtime's name of the object that the event of this step is about; 0: none. */
object_name predict_object_of(const struct predict *predict, uint32_t run, uint64_t step);

/* Sees to it that there are symbols, where that is possible. */
void predict_need_symbols(struct predict *predict);
struct finding_source predict_source(const struct predict *predict, uint32_t run);
uint32_t predict_strategy(const struct strategy *strategy);

#endif
