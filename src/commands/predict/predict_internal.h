/* Shared by the files that make runs for predictions. */
#pragma once

#include <sys/stat.h>

#include "investigate/probe/failure.h"
#include "plan/memory/memory_view.h"
#include "store/store_fallback.h"
#include "commands/predict/predict.h"

/* 88 MB of address space, committed as used; later events are only counted. */
#define PREDICT_EVENTS_MAX (UINT64_C(1) << 20)

/* A passing run. Owns everything. */
struct recorded_run {
	struct failure run; /* its schedule; the run passed */
	struct thread_record *threads;
	uint32_t thread_count;
	struct trace_event *events;
	uint64_t event_count, events_dropped;
	struct memory_block *blocks;
	uint32_t block_count;
	uint64_t run_ns;
};

struct predict {
	const struct predict_options *options;
	struct settings driven; /* settings of runs that drive candidates; lent by options */
	const struct campaign_listener *listener;
	struct recorded_run runs[PREDICT_RUNS_MAX];
	uint32_t run_count;
	uint32_t wanted_count;	 /* the current phase of recording ends at this many runs */
	uint64_t last_ns;	 /* when the last run ended */
	uint64_t begun_ns;	 /* when recording began */
	struct memory_view view; /* view of a recorded run, used for driven runs */
	bool has_view;
	/* Failures that were investigated, and their findings; owned. */
	uint64_t *known_keys;
	char (*known_findings)[32];
	uint32_t known_count;
	int64_t campaign; /* first campaign of the command; 0: none yet */
	struct store_fallback fallback;
	struct stat file; /* status of the program file when recording began */
	bool has_file;
	struct symbols_memory memory; /* result of predict_memory() */
	struct symbols *symbols;      /* NULL if not available, or not yet requested */
	/* Processes of the target disturb each other: candidates are driven one by one. */
	bool is_alone;
	bool has_tried_symbols;
};

/* Gives objects names that are the same in all runs. The runtime's own names are the same only if
 * the objects are created in the same order. */
void predict_name_objects(const struct recorded_run *run, struct trace_event *events);
/* Returns the runtime's name of the object of this step's event; 0: none. */
object_name predict_object_of(const struct predict *predict, uint32_t run, uint64_t step);

/* Copies the last run from the contract; the caller releases it. */
void recorded_run_take(struct recorded_run *run, struct contract *contract);
void recorded_run_release(struct recorded_run *run);
/* Returns the trace with object names that hold in all runs, which the caller frees; NULL if there
 * are no events. */
char *recorded_run_trace(const struct recorded_run *run, const char *program, size_t *size);

/* Returns the finding of a failure that was seen before (predict_watch.c); NULL if unknown. */
const char *predict_known(const struct predict *predict, uint64_t key);
void predict_learn(struct predict *predict, uint64_t key, const char *finding);
bool predict_judge_run(const struct predict *predict, struct contract *contract,
	predict_judge *judge, void *context);

/* Parameters of predict_keep(), which turns a run that showed a candidate, passing or failing, into
 * a finding. */
struct predict_keeping {
	const struct predict *predict;
	const struct candidate *candidate;
	const struct failure *run;
	bool has_failed; /* the run failed, and its replay must fail too */
	predict_judge *judge;
	void *context;
	int64_t campaign; /* id in the store */
};
/* Makes the finding. `id` becomes empty if the replay does not show the candidate. */
int predict_keep(const struct predict_keeping *keeping, char id[32], struct error *err);

/* Fails if the program's file has changed since recording. */
int predict_check_file(const struct predict *predict, struct error *err);

struct finding_source predict_source(const struct predict *predict, uint32_t run);
