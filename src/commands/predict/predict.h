/*
 * Makes the runs of `raddle predict`: passing runs are recorded, analyses of their traces yield
 * candidates, and runs are driven towards each candidate. Both phases are campaigns (campaign.h):
 * failures become findings. Nothing here prints.
 *
 * Life cycle: predict_open(); predict_record(); predict_trace() for each recorded run;
 * predict_describe() and predict_drive() or predict_confirm() for the candidates; predict_close().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "explore/campaign.h"
#include "findings/describe/candidate.h"
#include "strategies/directed/directed.h"
#include "symbols/symbols.h"
#include "trace/trace_reader.h"

#define PREDICT_RUNS_MAX 100u

struct predict_options {
	/* Program, store, seed, settings, ...; its strategy and budget are those of recording. */
	struct campaign_options campaign;
	uint32_t runs;	   /* passing runs to record */
	uint32_t attempts; /* runs per candidate */
	/* Model of the runs that drive candidates; recorded runs are sequentially consistent. */
	enum memory_model memory_model;
	bool has_contexts; /* runs record functions and accesses (runtime/contexts.h) */
	/*
	 * Each thread in turn has the highest priority. Runs that get too long are abandoned, and
	 * the remaining ones recorded at random.
	 */
	bool takes_turns;
	bool makes_all_attempts; /* use all attempts even when the result is clear: for counting */
	/* Time limits, 0: none. Recording continues beyond its limit until a run has passed. */
	uint64_t recording_ns, candidate_ns;
};

struct predict;

/*
 * `options` and `listener` must outlive the result. The listener hears of recording and of driving.
 */
struct predict *predict_open(
	const struct predict_options *options, const struct campaign_listener *listener);
void predict_close(struct predict *predict);

/* Makes runs until enough have passed; failing runs become findings. */
int predict_record(struct predict *predict, struct campaign_result *result, struct error *err);

struct predict_recorded {
	uint64_t steps;
	uint64_t events_dropped; /* events that were not recorded */
	uint32_t threads;
	uint64_t run_ns; /* time from the end of the previous run to the end of this one */
};

uint32_t predict_run_count(const struct predict *predict);
struct predict_recorded predict_recorded(const struct predict *predict, uint32_t run);

/* Returns the run as the bytes of a trace file, which the caller frees; NULL if the run has no
 * events. */
char *predict_trace(struct predict *predict, uint32_t run, size_t *size);

/* Returns the memory of the run, for symbols. Valid until the next call, at most as long as
 * `predict`. */
const struct symbols_memory *predict_memory(struct predict *predict, uint32_t run);
/* Returns NULL if none are available. */
struct symbols *predict_symbols(struct predict *predict);

/* Fills title and waits of the candidate. */
int predict_describe(struct predict *predict, struct candidate *candidate, struct error *err);

/* Range of steps, both ends included; first > last: empty. */
struct predict_span {
	uint64_t first, last;
};

/* Returns the span from the first to the last location of the candidate in this recorded run. */
struct predict_span predict_span_of(const struct candidate *candidate, uint32_t run);
/* Shows these steps of a recorded run and some around them; the caller releases `out`. Requires
 * predict_describe(). */
int predict_show_run(const struct predict *predict, uint32_t run, struct predict_span span,
	struct finding *out, struct error *err);

/* Decides whether a run shows the candidate. The trace's memory is valid during the call only. */
struct predict_trace {
	struct trace_reader *reader;
	const struct symbols_memory *memory;
	bool has_failed;
};
typedef bool predict_judge(void *context, const struct predict_trace *trace);

struct predict_attempt {
	bool is_confirmed; /* a run ended as predicted (scenario or race: showed it), and repeats */
	bool fails;	   /* such a run failed */
	bool is_unsteady;  /* a run ended as predicted, but does not repeat */
	bool is_interrupted;
	/* The resulting finding, or another failure that occurred; empty: none. */
	char finding[32];
	char shown_by
		[32]; /* scenarios, races: the finding whose schedule shows the candidate; empty: none */
	/* Folder of the fallback store that has the findings; NULL: the command's store. */
	const char *fallback;
	uint32_t other_findings;
	uint64_t kept_ns;   /* time for replaying and minimising findings */
	uint64_t driven_ns; /* all other time */
	/* a process ended without creating threads, unlike the recorded runs */
	bool has_no_threads;
	uint64_t runs;
	uint64_t rendezvous; /* runs in which all locations were taken at once */
	uint64_t
		arrivals[CANDIDATE_LOCATIONS_MAX]; /* runs in which a thread reached the location */
	uint64_t thrashes;     /* threads released because no other thread was enabled */
	uint64_t shown;	       /* scenarios and races: runs that showed the candidate */
	uint64_t shown_failed; /* such runs that failed */
};

/*
 * Returns the model of the runs that drive this candidate. Under TSO a store that waits in a store
 * buffer is no scheduling point, so that no thread can be stopped there. A candidate with such a
 * store is driven in sequentially consistent runs, which TSO permits, too.
 */
enum memory_model predict_driven_model(
	const struct predict_options *options, const struct candidate *candidate);
/* Returns the first location of the candidate that is such a store; location_count: none is. */
uint32_t predict_buffered_location(
	const struct predict_options *options, const struct candidate *candidate);

/* `judge` decides about runs of scenarios, and about the run of a race that is kept. */
int predict_confirm(struct predict *predict, const struct candidate *candidate,
	predict_judge *judge, void *context, struct predict_attempt *attempt, struct error *err);

/* Drives candidates in parallel; reports in their order, independent of the number of workers. */
struct predict_drive {
	const struct candidate *candidates;
	uint32_t count;
	uint32_t workers; /* 0: one per core */
	void *context;
	predict_judge *judge;
	/* Returns the context that `judge` gets for this candidate. */
	void *(*judging)(void *context, uint32_t number);
	void (*came)(void *context, uint32_t number, const struct predict_attempt *attempt);
	/* Called when the command begins to wait for this candidate. May be NULL. */
	void (*waits)(void *context, uint32_t number);
};
int predict_drive(struct predict *predict, const struct predict_drive *drive, struct error *err);

struct predict_watched {
	uint64_t runs;
	uint64_t failed;
	uint32_t findings;
	bool is_interrupted;
};

/* Makes this many random runs and asks the judge about each. */
int predict_watch(struct predict *predict, uint64_t runs, predict_judge *judge, void *context,
	struct predict_watched *watched, struct error *err);
