#pragma once

#include <stdbool.h>

#include "base/strbuf.h"
#include "commands/predict/predict.h"
#include "findings/describe/candidate.h"
#include "store/store_fallback.h"

#define PREDICT_TIME_NS UINT64_C(300000000000)

enum prediction_state {
	PREDICTION_CONFIRMED, /* a run showed it and failed */
	PREDICTION_HARMLESS,  /* a race that occurred in runs, none of which failed */
	/* an order of accesses that occurred in runs, none of which failed */
	PREDICTION_BENIGN,
	PREDICTION_CANDIDATE, /* the candidate did not occur in any run */
	PREDICTION_UNTRIED,   /* candidate was not driven: too many candidates, or interrupted */
	PREDICTION_STATES
};

struct prediction {
	struct predict_attempt attempt;
	enum prediction_state state;
	char finding[32]; /* set if confirmed */
};

struct predict_result {
	const struct predict_options *options;
	const struct predict *predict;
	struct campaign_result recording;
	struct candidates candidates;
	struct prediction *predictions; /* owned */
	uint32_t prediction_count;	/* equals the number of candidates at the end */
	struct predict_watched watched; /* method monitor */
	uint64_t runs_showing;		/* watched runs that showed any violation */
	struct strbuf findings;		/* JSON texts with commas between them */
	uint32_t harmless_count;	/* candidates that occurred without a failure */
	/* findings of this command, including those that were not predicted */
	uint32_t finding_count;
	char last_finding[32];
	char last_fallback[STORE_FALLBACK_FOLDER];   /* its fallback store, empty: none */
	uint64_t begun_ns, recorded_ns, inferred_ns; /* start of the phases */
	uint64_t driving_ns;			     /* time of driving, total over all processes */
	/* Investigation of failures: its start (0: none in progress), and its total time. */
	uint64_t investigating_since_ns, investigated_recording_ns, investigated_driving_ns;
	bool has_started;
	bool has_memory_sites; /* the program was built by raddle-cc */
	const char *nothing;   /* text for a result without candidates */
	char *reported; /* ids and notes that have been printed, each between line feeds; owned */
	bool is_json;
	bool is_quiet;
};

/* "confirmed", "candidate", "not tried" */
extern const char *const prediction_state_words[PREDICTION_STATES];

/* Returns the reason why no run reached the candidate. The caller releases the text. */
struct strbuf prediction_reason(
	const struct candidate *candidate, const struct prediction *prediction);

void predict_report_listen(struct predict_result *result, struct campaign_listener *listener);
/* Returns the indices of the candidates, most important first; the caller frees them. */
uint32_t *predict_ranking(const struct predict_result *result);
/* Print about recording, about one lock cycle, about all candidates by rank, and the summary. */
void predict_report_recorded(const struct predict_result *result);
/* Prints the notes; `lines`: one note per line. */
void predict_report_notes(const struct predict_result *result, const char *lines);
/* Reports that all candidates before this one have been driven. */
void predict_report_driving(const struct predict_result *result, uint32_t candidate);
void predict_report_candidate(const struct predict_result *result, uint32_t index);
void predict_report_candidates(const struct predict_result *result);
void predict_report_end(const struct predict_result *result);

void predict_print_json(const struct predict_result *result);
/* Number of candidates in the document for `raddle report`. The caller frees the document. */
#define PREDICTIONS_KEPT 100u
char *predict_to_document(const struct predict_result *result);
