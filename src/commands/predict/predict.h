/*
 * Runs for predictions: passing runs are recorded, and candidates that analyses make of their traces
 * are driven to happen. Both are campaigns (campaign.h), so failures of either are findings like any
 * other: replayed, minimised, stored. Says nothing itself.
 *
 * Use: predict_open; predict_record; then for each recorded run predict_trace, and for each candidate
 * predict_describe and predict_confirm; predict_close.
 */
#ifndef RADDLE_COMMANDS_PREDICT_PREDICT_H
#define RADDLE_COMMANDS_PREDICT_PREDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "explore/campaign.h"
#include "findings/candidate.h"
#include "strategies/directed/directed.h"
#include "symbols/symbols.h"
#include "trace/trace_reader.h"

/* Runs that can be recorded, and candidates that are driven. */
#define PREDICT_RUNS_MAX 100u

struct predict_options {
	/* Program, store, seed, settings, ...; strategy and budget of it are those of recording. */
	struct campaign_options campaign;
	uint32_t runs;	   /* that pass and are recorded */
	uint32_t attempts; /* runs that a candidate is driven for */
	bool has_contexts; /* runs tell functions and accesses (runtime/contexts.h) */
	/* The strategy is ours: threads take turns at being first. One that works on for as long as there are
	 * others makes no run that way, so what is too long is left, and the rest recorded at random. */
	bool takes_turns;
	bool makes_all_attempts; /* also when it is clear what comes of a candidate: to count */
	/* Recording ends after so long if a run has passed; so does each candidate. 0: no limit. */
	uint64_t recording_ns, candidate_ns;
};

struct predict;

/* `options` and `listener` must outlive it. The listener is told of recording and of driving. */
struct predict *predict_open(
	const struct predict_options *options, const struct campaign_listener *listener);
void predict_close(struct predict *predict);

/* To time phases by. */
uint64_t predict_clock_ns(void);

/* Makes runs until enough have passed; failures among them are findings. */
int predict_record(struct predict *predict, struct campaign_result *result, struct error *err);

struct predict_recorded {
	uint64_t steps;
	uint64_t events_dropped; /* that were not recorded */
	uint32_t threads;
	uint64_t run_ns; /* from the end of the run before to its end */
};

uint32_t predict_run_count(const struct predict *predict);
struct predict_recorded predict_recorded(const struct predict *predict, uint32_t run);

/* The run as the bytes of a trace file, to be freed. */
int predict_trace(
	struct predict *predict, uint32_t run, char **bytes, size_t *size, struct error *err);

/* The memory of the run, for symbols. Lives as long as `predict`, until the next call. */
const struct symbols_memory *predict_memory(struct predict *predict, uint32_t run);
/* NULL: none are to be had. */
struct symbols *predict_symbols(struct predict *predict);

/* Gives it its words. */
int predict_describe(struct predict *predict, struct candidate *candidate, struct error *err);

/* Steps of a run, both included; first > last: none. */
struct predict_span {
	uint64_t first, last;
};

/* From the first to the last place of the candidate that is of this recorded run. */
struct predict_span predict_span_of(const struct candidate *candidate, uint32_t run);
/*
 * These steps of a recorded run and some around them, as the steps of a finding that is none; to be released.
 * predict_describe() must have been called before, for the words. Of a long span only the beginning is shown.
 */
int predict_show_run(const struct predict *predict, uint32_t run, struct predict_span span,
	struct finding *out, struct error *err);

/*
 * Says whether a run shows what it was driven to, by its trace. The trace's memory is the judge's for the
 * time of the call.
 */
struct predict_trace {
	struct trace_reader *reader;
	const struct symbols_memory *memory;
	bool has_failed;
};
typedef bool predict_judge(void *context, const struct predict_trace *trace);

/* What came of driving a candidate. */
struct predict_attempt {
	bool is_confirmed; /* a run ended as predicted (a scenario, a race: showed it), and repeats */
	bool fails;	   /* such a run failed */
	bool is_unsteady; /* a run ended as predicted, but does not repeat */
	bool is_interrupted;
	char finding[32]; /* what it became, or another failure that came up; empty: none */
	char shown_by
		[32]; /* scenarios, races: the finding whose schedule shows it; empty: none was kept */
	uint32_t other_findings;
	uint64_t kept_ns;    /* what findings have taken: replaying and minimising */
	uint64_t driven_ns;  /* what it took else */
	bool has_no_threads; /* a process ended without any, as those of recorded runs have not */
	uint64_t runs;
	uint64_t meetings;			 /* runs in which all places were taken at once */
	uint64_t arrivals[CANDIDATE_PLACES_MAX]; /* runs in which a thread came to the place */
	uint64_t thrashes;			 /* threads let on because nobody else could move */
	uint64_t shown;				 /* scenarios and races: runs that showed it, */
	uint64_t shown_failed;			 /* and failed */
};

/* `judge` is asked about runs of scenarios, and about the run of a race that is kept. */
int predict_confirm(struct predict *predict, const struct candidate *candidate,
	predict_judge *judge, void *context, struct predict_attempt *attempt, struct error *err);

/* All candidates, side by side; what comes of each is told in their order, and is the same for any number of workers. */
struct predict_drive {
	const struct candidate *candidates;
	uint32_t count;
	uint32_t workers; /* 0: as many as there are cores */
	void *context;
	predict_judge *judge;
	void *(*judging)(void *context, uint32_t number); /* the judge's context for this one */
	void (*came)(void *context, uint32_t number, const struct predict_attempt *attempt);
	void (*waits)(void *context, uint32_t number); /* that one is waited for; or NULL */
};
int predict_drive(struct predict *predict, const struct predict_drive *drive, struct error *err);

/* What watching runs came to. */
struct predict_watched {
	uint64_t runs;
	uint64_t failed;
	uint32_t findings;
	bool is_interrupted;
};

/* Makes so many runs at random, each of which the judge looks at. */
int predict_watch(struct predict *predict, uint64_t runs, predict_judge *judge, void *context,
	struct predict_watched *watched, struct error *err);

#endif
