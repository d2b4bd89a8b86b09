/*
 * Schedule-sensitive branches of a program: a run is recorded and analysed (sensitivity/sensitivity.h), and
 * each schedule that the solver gives is run. Only what a run has shown is reported.
 */
#ifndef RADDLE_CAMPAIGN_BRANCHES_H
#define RADDLE_CAMPAIGN_BRANCHES_H

#include "campaign/campaign.h"
#include "sensitivity/sensitivity.h"

struct branches_options {
	struct campaign_options campaign; /* program, settings, runtime; the rest is not used */
	struct sensitivity_options sensitivity;
	uint64_t record_bytes;	/* the record may have; 0: the standard limit */
	uint32_t continuations; /* random runs from a flipped branch on, to see what comes of it */
	/* NULL, or told after each answer of the solver: how many there were, and the branches shown */
	void (*progress)(uint64_t answers, uint32_t found);
};

/* What its going either way means. */
enum branch_class {
	CLASS_BUG,    /* a run from there on fails */
	CLASS_AD_HOC, /* a loop waits for another thread */
	CLASS_BENIGN, /* so far: all runs from there on passed */
	BRANCH_CLASS_COUNT
};

extern const char *const branch_class_words[BRANCH_CLASS_COUNT];

/* A branch that was seen to go either way. Everything is owned. */
struct sensitive_branch {
	enum sensitive_kind kind;
	char *function, *file;
	char *path; /* of the file, to open it */
	uint32_t line, column;
	char *thread; /* "main.0" */
	char *variables;
	uint64_t occurrence;
	bool was_taken; /* in the recorded run; in the other one the opposite */
	char *schedule; /* "main:12 main.0:3": who makes how many steps until the branch */
	enum branch_class class;
	uint32_t continuations; /* runs that were made from there on */
	struct outcome outcome; /* CLASS_BUG: of the run that failed */
	uint64_t failing_seed;	/* CLASS_BUG: how that run went on; 0: without preemptions */
};

struct branches_result {
	struct sensitive_branch *items;
	uint32_t count;
	char **unproven; /* solutions that no run has shown, one line each: defects of the model */
	uint32_t unproven_count;
	struct sensitivity_figures figures;
	uint64_t record_bytes;
	uint64_t run_ns; /* of the recorded run */
	bool is_partial; /* the record is a beginning only */
	bool is_interrupted;
};

int branches_search(
	const struct branches_options *options, struct branches_result *out, struct error *err);
void branches_result_release(struct branches_result *result);

#endif
