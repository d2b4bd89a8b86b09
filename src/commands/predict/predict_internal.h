/* What the files that make runs for predictions share. */
#ifndef RADDLE_COMMANDS_PREDICT_PREDICT_INTERNAL_H
#define RADDLE_COMMANDS_PREDICT_PREDICT_INTERNAL_H

#include <sys/stat.h>

#include "investigate/failure.h"
#include "plan/memory_view.h"
#include "commands/predict/predict.h"

/* 88 MB of events, of which only what is used takes memory. Later ones are counted. */
#define PREDICT_EVENTS_MAX (UINT64_C(1) << 20)

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
	uint32_t wanted_count;	 /* runs at which the part of recording ends that is under way */
	uint64_t last_ns;	 /* when the last run ended */
	uint64_t begun_ns;	 /* when recording began */
	struct memory_view view; /* of a recorded run, what driven runs see of memory */
	bool has_view;
	/* Failures that have been looked at, and what they became; owned. */
	uint64_t *known_keys;
	char (*known_findings)[32];
	uint32_t known_count;
	int64_t campaign; /* first campaign of the command; 0: none yet */
	struct stat file; /* status of the program file when recording began */
	bool has_file;
	struct symbols_memory memory; /* predict_memory()'s */
	struct symbols *symbols;      /* NULL: none could be had, or nobody has asked yet */
	bool is_alone; /* the target's processes are in each other's way: candidates are driven one by one */
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

/* Takes the last run out of the contract; to be released. */
void recorded_run_take(struct recorded_run *run, struct contract *contract);
void recorded_run_release(struct recorded_run *run);
/* Its trace, with names of objects that hold in other runs; to be freed. NULL: it has no events. */
int recorded_run_trace(const struct recorded_run *run, const char *program, char **bytes,
	size_t *size, struct error *err);
struct finding_source recorded_run_source(const struct recorded_run *run, const char *program);

/* predict_watch.c: what a failure of a driven or watched run became; NULL: it is not known. */
const char *predict_known(const struct predict *predict, uint64_t key);
void predict_learn(struct predict *predict, uint64_t key, const char *finding);
/* Asks about the run in the contract. */
bool predict_judge_run(const struct predict *predict, struct contract *contract,
	predict_judge *judge, void *context);

/* predict_keep.c: a run that showed a candidate, and passed or failed, becomes a finding. */
struct predict_keeping {
	const struct predict *predict;
	const struct candidate *candidate;
	const struct failure *run;
	bool has_failed; /* the run has, and is to do so again */
	predict_judge *judge;
	void *context;
	int64_t campaign; /* id in the store */
};
/* `id` is empty where the run does not show it again. */
int predict_keep(const struct predict_keeping *keeping, char id[32], struct error *err);

/* Is the program's file still the one whose runs were recorded? */
int predict_check_file(const struct predict *predict, struct error *err);

/* Sees to it that there are symbols, where that is possible. */
void predict_need_symbols(struct predict *predict);
struct finding_source predict_source(const struct predict *predict, uint32_t run);
uint32_t predict_strategy(const struct strategy *strategy);

#endif
