/* What `raddle predict` has come to know, and how it is told. */
#ifndef RADDLE_COMMANDS_PREDICT_PREDICT_RESULT_H
#define RADDLE_COMMANDS_PREDICT_PREDICT_RESULT_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "commands/predict/predict.h"
#include "findings/candidate.h"

/* The standard time budget of the command. */
#define PREDICT_TIME_NS UINT64_C(300000000000)

enum prediction_state {
	PREDICTION_CONFIRMED, /* it happened, and made the run fail */
	PREDICTION_HARMLESS,  /* a race that occurred; no run failed through it */
	PREDICTION_BENIGN,    /* an order of accesses that occurred; no run failed */
	PREDICTION_CANDIDATE, /* no run reached it */
	PREDICTION_UNTRIED,   /* nobody tried: there were too many, or the user had enough */
	PREDICTION_STATES
};

/* One for each candidate. */
struct prediction {
	struct predict_attempt attempt;
	enum prediction_state state;
	char finding[32]; /* where it is confirmed */
};

struct predict_result {
	const struct predict_options *options;
	const struct predict *predict;
	struct campaign_result recording;
	struct candidates candidates;
	struct prediction *predictions; /* owned */
	uint32_t prediction_count;	/* as many as candidates, in the end */
	struct predict_watched watched; /* method monitor */
	uint64_t runs_showing;		/* of those: that showed any violation */
	struct strbuf findings;		/* JSON texts with commas between them */
	uint32_t harmless_count;	/* predictions that came about and did no harm */
	uint32_t finding_count;		/* of this command, also those that nobody predicted */
	char last_finding[32];
	uint64_t begun_ns, recorded_ns, inferred_ns; /* when phases began */
	uint64_t driving_ns; /* what driving took, in all processes together */
	/* Failures that come up are investigated in between: since when, 0: none is; and how long. */
	uint64_t investigating_since_ns, investigated_recording_ns, investigated_driving_ns;
	bool has_started;
	bool has_memory_sites; /* the program is raddle-cc's */
	const char *nothing;   /* what is said where there are no candidates */
	char *told;	       /* ids that have been printed, " F1 F2 "; owned */
	bool is_json;
	bool is_quiet;
};

/* "confirmed", "candidate", "not tried" */
extern const char *const prediction_state_words[PREDICTION_STATES];

/* Why it did not happen, as far as the runs tell. To be released. */
struct strbuf prediction_reason(
	const struct candidate *candidate, const struct prediction *prediction);

/* A listener that refers to `result`. */
void predict_report_listen(struct predict_result *result, struct campaign_listener *listener);
/* Indices of candidates, what matters first; to be freed. */
uint32_t *predict_ranking(const struct predict_result *result);
/* After recording; a circle of locks; all candidates in their ranking; in the end. */
void predict_report_recorded(const struct predict_result *result);
/* Lines of which each is a note. */
void predict_report_notes(const struct predict_result *result, const char *lines);
/* Candidates before this one have been driven. */
void predict_report_driving(const struct predict_result *result, uint32_t candidate);
void predict_report_candidate(const struct predict_result *result, uint32_t index);
void predict_report_candidates(const struct predict_result *result);
void predict_report_end(const struct predict_result *result);

/* Everything, as JSON on standard output. */
void predict_print_json(const struct predict_result *result);
/* What a report needs of it, as JSON, to be freed; the first of the candidates. */
#define PREDICTIONS_KEPT 100u
char *predict_to_document(const struct predict_result *result);

#endif
