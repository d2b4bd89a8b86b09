/*
 * Makes the runs that explain a finding, as in its campaign. Each run reports its access patterns,
 * and whether it failed like the finding.
 *
 * Life cycle: explain_open() replays the finding once, to identify its failure and to read symbols.
 * explain_learn() makes runs until no further memory turns out to be shared. explain_run() then
 * makes one compared run per call. explain_close() ends the workers. Nothing here prints.
 *
 * Several workers make runs ahead of time; the results are the same for every number of workers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "commands/explain/runs/explain_locations.h"
#include "findings/finding.h"
#include "model/pattern.h"
#include "strategies/strategy.h"
#include "symbols/symbols.h"

struct explain;

struct explain_options {
	const char *runtime; /* libraddle.so */
	uint32_t strategy;   /* index in `strategies` */
	struct strategy_config strategy_config;
	uint64_t seed;
	uint32_t window;       /* accesses to a variable that a pattern may span; 0: the default */
	bool without_patterns; /* records no patterns: to measure the cost of recording */
	/* Number of concurrent workers; the results do not depend on it. 0: one per core. */
	uint32_t workers;
	const volatile int *is_interrupted;
};

enum explain_verdict {
	EXPLAIN_PASSED,
	EXPLAIN_FAILED, /* like the finding */
	EXPLAIN_OTHER /* another failure, or unfinished at the limit of steps: says nothing about the finding */
};

struct explain_limits {
	uint32_t window; /* default window */
	uint32_t patterns, variables;
};

extern const struct explain_limits explain_limits;

struct explain_run {
	enum explain_verdict verdict;
	const struct pattern *patterns; /* valid until the next run; keys are by locations */
	uint32_t pattern_count;
	uint64_t patterns_dropped; /* patterns that exceeded the limit */
	uint64_t accesses_dropped; /* accesses to variables that exceeded the limit */
	uint64_t steps;
};

/* `finding` and `options` must outlive *out. Changes to the finding's folder. */
int explain_open(struct explain **out, const struct finding *finding,
	const struct explain_options *options, struct error *err);
void explain_close(struct explain *explain);

/* Returns whether the schedule still fails. If not, failures of its kind count instead. */
bool explain_repeats(const struct explain *explain);
/* Returns false without instrumented accesses to memory; no patterns exist then. */
bool explain_sees_memory(const struct explain *explain);

/* Returns whether concurrent processes of the program disturbed each other. */
bool explain_is_disturbed(const struct explain *explain);
struct symbols *explain_symbols(const struct explain *explain);

uint64_t explain_elapsed_ns(const struct explain *explain);
int explain_learn(struct explain *explain, struct error *err);
int explain_run(struct explain *explain, struct explain_run *run, struct error *err);

/* Measures a batch of runs: returns only their total processor time. */
int explain_measure(struct explain *explain, uint64_t runs, uint64_t *took_ns, struct error *err);

/* Returns the location of a site; see explain_locations.h. */
const struct explain_location *explain_site(struct explain *explain, uint64_t site);

/* Returns the name of the function at this address; NULL if unknown. */
const char *explain_function(struct explain *explain, uint64_t start);

/* Directed runs (explain_direct.c). */

/* Force a pattern between these PATTERN_THREADS threads (NULL means any), or forbid all patterns of
 * a list. */
void explain_force_between(
	struct explain *explain, const struct pattern *pattern, const thread_name *names);
/* Finds the threads between which the pattern separates runs best, at least as well as between any
 * threads. */
bool explain_find_threads(const struct explain *explain, uint64_t key, thread_name *names);
void explain_forbid(struct explain *explain, const struct pattern *patterns, uint32_t count);
#define EXPLAIN_FORBIDDEN_MAX 8u

/* A run as a finding, with the patterns that it has shown. */
struct explain_shown {
	struct finding run;	  /* its interleaving; released with finding_release */
	struct pattern *patterns; /* owned */
	uint32_t pattern_count;
	/* The document shows the steps between these indexes, and those of the pattern. */
	uint32_t window_start, window_end;
};

/* Shows the finding's own run as the failing one, for a ranking without other failing runs. Returns
 * false if it passes now. */
bool explain_own_run(struct explain *explain, struct explain_shown *out);
/* Shows the kept run with the fewest switches: failing with the pattern, or passing without it.
 * Prefers the finding's own run. Returns false if there is none, or the run cannot be repeated. */
bool explain_show(struct explain *explain, enum explain_verdict verdict, uint64_t key,
	struct explain_shown *out);
void explain_shown_release(struct explain_shown *shown);
