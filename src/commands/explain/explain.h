/*
 * Runs for explaining a finding: the target is run again and again, as in the campaign that found it,
 * and each run tells which access patterns it has shown and whether it failed like the finding.
 *
 * Use: explain_open, which replays the finding once to know its failure again and to read symbols;
 * explain_learn, which makes runs until no more memory turns out to be shared; then explain_run as
 * often as wanted; explain_close. Says nothing itself.
 */
#ifndef RADDLE_COMMANDS_EXPLAIN_EXPLAIN_H
#define RADDLE_COMMANDS_EXPLAIN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "commands/explain/explain_places.h"
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
	uint32_t window;       /* of accesses to a variable; 0: the standard one */
	bool without_patterns; /* record none: to measure what recording costs */
	uint32_t
		workers; /* runs at a time, without any difference to them; 0: as many as there are cores */
	/* libraddle-noise.so: runs are not controlled but disturbed (explain_noise.c). NULL: they are. */
	const char *noise_runtime;
	const volatile int *is_interrupted;
};

enum explain_verdict {
	EXPLAIN_PASSED,
	EXPLAIN_FAILED, /* as the finding did */
	EXPLAIN_OTHER	/* differently: says nothing about the finding */
};

/* What is recorded of a run, at most. */
struct explain_limits {
	uint32_t window; /* the standard one */
	uint32_t patterns, variables;
};

extern const struct explain_limits explain_limits;

struct explain_run {
	enum explain_verdict verdict;
	const struct pattern *patterns; /* until the next run; keys are by places */
	uint32_t pattern_count;
	uint64_t patterns_dropped; /* that did not fit */
	uint64_t accesses_dropped; /* to variables that did not fit */
	uint64_t accesses_missed;  /* at full speed: came faster than they could be read */
	uint64_t steps;
	uint64_t took_ns; /* at full speed */
};

/*
 * `finding` and `options` must outlive it. The working folder becomes the finding's.
 * At full speed the finding may be a program only, of kind OUTCOME_NONE: then it is that of the first run
 * that fails.
 */
int explain_open(struct explain **out, const struct finding *finding,
	const struct explain_options *options, struct error *err);
void explain_close(struct explain *explain);

/* Does the finding's schedule still fail as it did? If not, failures of its kind stand for it. */
bool explain_repeats(const struct explain *explain);
/* The failure that runs are compared with; OUTCOME_NONE: none is known. */
const struct outcome *explain_failure(const struct explain *explain);
/* Were processes of the program in each other's way, so that from then on one run was made at a time? */
bool explain_is_disturbed(const struct explain *explain);
/* Are accesses to memory seen? If not, there are no patterns. */
bool explain_sees_memory(const struct explain *explain);
/* Of the finding's process; NULL: none could be read. */
struct symbols *explain_symbols(const struct explain *explain);

/* Since it was opened. */
uint64_t explain_elapsed_ns(const struct explain *explain);
int explain_learn(struct explain *explain, struct error *err);
int explain_run(struct explain *explain, struct explain_run *run, struct error *err);

/* Makes a batch of runs; says only how much processor time they took together. */
int explain_measure(struct explain *explain, uint64_t runs, uint64_t *took_ns, struct error *err);

/* The line and function of a site; see explain_places.h. */
const struct explain_place *explain_site(struct explain *explain, uint64_t site);

/* At full speed: the call that allocated memory of this kind; 0: it is of none. */
uint64_t explain_class_site(const struct explain *explain, uint32_t class);
int explain_noise_find_runtime(char **path, struct error *err);

/* The name of the function at this address; NULL: not known. */
const char *explain_function(struct explain *explain, uint64_t start);

/* ---- directed runs (explain_direct.c) ---- */

/* From now on runs are driven to show the pattern, or to show none of these, by strategy `directed`. */
void explain_force(struct explain *explain, const struct pattern *pattern);
/* Between these threads only. */
void explain_force_between(
	struct explain *explain, const struct pattern *pattern, const thread_name *names);
/*
 * The threads, by party, between which the pattern tells failing runs from passing ones best, and not worse
 * than between any. False: there are none such.
 */
bool explain_find_threads(const struct explain *explain, uint64_t key, thread_name *names);
void explain_forbid(struct explain *explain, const struct pattern *patterns, uint32_t count);
/* As many as can be forbidden at once. */
#define EXPLAIN_FORBIDDEN_MAX 8u

/* ---- showing a run (explain_show.c) ---- */

/* A run in words, with the patterns that it has shown. */
struct explain_shown {
	struct finding run;	  /* its interleaving; released with finding_release */
	struct pattern *patterns; /* owned */
	uint32_t pattern_count;
};

/*
 * Repeats one of the runs that were kept: one that failed and has the pattern, or one that passed and
 * has it not, with as few switches as possible; the finding's own run before all others. False: there
 * is none, or it cannot be repeated.
 */
/*
 * The finding's own run, as one that failed: for a ranking without any other. False: its schedule does
 * not fail any more.
 */
bool explain_own_run(struct explain *explain, struct explain_shown *out);
bool explain_show(struct explain *explain, enum explain_verdict verdict, uint64_t key,
	struct explain_shown *out);
void explain_shown_release(struct explain_shown *shown);

#endif
