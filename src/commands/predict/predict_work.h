#pragma once

#include "analyses/units/atomic_rules.h"
#include "analyses/analysis.h"
#include "analyses/units/atomic_sets.h"
#include "commands/predict/predict_result.h"

enum predict_method { METHOD_PREDICT, METHOD_MONITOR, METHOD_RACE, METHOD_ATOMICITY, METHODS };

#define PREDICT_ANALYSES_MAX 4

struct predict_work;

/* Context of the judge for the runs of one candidate. */
struct predict_judging {
	const struct predict_work *work;
	const struct candidate *candidate;
};

struct predict_work {
	struct predict_result *result;
	uint64_t candidates; /* limit on the driven candidates */
	enum predict_method method;
	bool wants_deadlocks, wants_atomicity, wants_races;
	const char *atomic_sets; /* file; NULL if none */
	struct atomic_rules rules;
	struct analysis_setting setting;
	const struct analysis *analyses[PREDICT_ANALYSES_MAX];
	void *states[PREDICT_ANALYSES_MAX];
	uint32_t analysis_count;
	struct predict_judging judging; /* state for the candidate that this process drives */
};

/* Call before any run. Fails if the file of --atomic-sets is unreadable or a line is invalid. */
int predict_work_check_file(const char *atomic_sets, struct error *err);
/* Call after recording. Reads annotations, starts the analyses and feeds them all recorded runs. */
int predict_work_begin(struct predict_work *work, struct predict *predict, struct error *err);
/* Finds candidates, describes and drives them; method monitor watches runs instead. */
int predict_work_do(struct predict_work *work, struct predict *predict, struct error *err);
void predict_work_end(struct predict_work *work);

void predict_work_show_sets(const struct predict_work *work);
