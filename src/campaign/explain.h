/*
 * Runs for explaining a finding: the target is run again and again, as in the campaign that found it,
 * and each run tells which access patterns it has shown and whether it failed like the finding.
 *
 * Use: explain_open, which replays the finding once to know its failure again and to read symbols;
 * explain_learn, which makes runs until no more memory turns out to be shared; then explain_run as
 * often as wanted; explain_close. Says nothing itself.
 */
#ifndef RADDLE_CAMPAIGN_EXPLAIN_H
#define RADDLE_CAMPAIGN_EXPLAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "campaign/failure.h"
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
	const volatile int *is_interrupted;
};

enum explain_verdict {
	EXPLAIN_PASSED,
	EXPLAIN_FAILED, /* as the finding did */
	EXPLAIN_OTHER	/* differently: says nothing about the finding */
};

struct explain_run {
	enum explain_verdict verdict;
	const struct pattern *patterns; /* until the next run */
	uint32_t pattern_count;
	uint64_t patterns_dropped; /* that did not fit */
	uint64_t accesses_dropped; /* to variables that did not fit */
	uint64_t steps;
};

/* `finding` and `options` must outlive it. The working folder becomes the finding's. */
int explain_open(struct explain **out, const struct finding *finding,
	const struct explain_options *options, struct error *err);
void explain_close(struct explain *explain);

/* Does the finding's schedule still fail as it did? If not, failures of its kind stand for it. */
bool explain_repeats(const struct explain *explain);
/* Are accesses to memory seen? If not, there are no patterns. */
bool explain_sees_memory(const struct explain *explain);
/* Of the finding's process; NULL: none could be read. */
struct symbols *explain_symbols(const struct explain *explain);

int explain_learn(struct explain *explain, struct error *err);
int explain_run(struct explain *explain, struct explain_run *run, struct error *err);
/* The run that was made last, to be repeated. `run` is released first. */
void explain_take_run(const struct explain *explain, struct failure *run);

#endif
