/* The work of `raddle predict`: recorded runs are analysed, and what could happen is driven to happen. */
#ifndef RADDLE_COMMANDS_PREDICT_PREDICT_WORK_H
#define RADDLE_COMMANDS_PREDICT_PREDICT_WORK_H

#include "analyses/atomic_rules.h"
#include "analyses/atomicity.h"
#include "commands/predict/predict_result.h"

enum predict_method { METHOD_PREDICT, METHOD_MONITOR, METHOD_RACE, METHOD_ATOMICITY, METHODS };

/* "predict", ... */
extern const char *const predict_method_words[METHODS];

#define PREDICT_ANALYSES_MAX 4

struct predict_work;

/* Who is asked about a run that was driven towards a candidate. */
struct predict_judging {
	const struct predict_work *work;
	const struct candidate *candidate;
};

struct predict_work {
	struct predict_result *result;
	uint64_t candidates; /* that are driven at most */
	enum predict_method method;
	bool wants_deadlocks, wants_atomicity, wants_races;
	const char *atomic_sets; /* file; NULL: none */
	/* Made by predict_work_begin(). */
	struct atomic_rules rules;
	struct analysis_setting setting;
	const struct analysis *analyses[PREDICT_ANALYSES_MAX];
	void *states[PREDICT_ANALYSES_MAX];
	uint32_t analysis_count;
	struct predict_judging judging; /* of the candidate that this process drives */
};

/* After recording: annotations are read, analyses begun and shown all recorded runs. */
int predict_work_begin(struct predict_work *work, struct predict *predict, struct error *err);
/* Candidates are found, put into words and driven; or runs are watched. */
int predict_work_do(struct predict_work *work, struct predict *predict, struct error *err);
void predict_work_end(struct predict_work *work);

/* What was inferred, on standard output. */
void predict_work_show_sets(const struct predict_work *work);

#endif
