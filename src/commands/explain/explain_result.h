/* Result of `raddle explain`: the ranking, and the explanations that are reported in full. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyses/patterns.h"
#include "base/strbuf.h"
#include "commands/explain/runs/explain.h"
#include "commands/explain/runs/explain_cause.h"
#include "commands/explain/runs/explain_orders.h"

#define EXPLAIN_ANSWERS_MAX 8u

struct explain_answer {
	const struct pattern_record *record; /* number in the ranking */
	uint32_t same_conflict; /* number of further suspicious patterns of the same conflict */
	bool has_cause;		/* `cause` is filled */
	struct explain_cause cause;
	bool has_failing, has_passing;
	struct explain_shown failing, passing; /* runs with and without the pattern, if any */
	uint32_t first_step; /* steps of either run that come before the document's window */
};

struct explain_result {
	const struct finding *finding;
	struct explain *explain;
	enum suspicion suspicion;
	uint32_t window;
	struct pattern_ranking ranking;
	uint32_t others; /* runs with another failure: not compared */
	uint64_t patterns_dropped, accesses_dropped;
	struct explain_orders orders;
	struct strbuf notes; /* complete lines */
	struct explain_answer answers[EXPLAIN_ANSWERS_MAX];
	uint32_t answer_count;
};

/* Returns the pattern in the run that shows it; NULL if the run does not show it. */
const struct pattern *explain_shown_pattern(const struct explain_shown *shown, uint64_t key);
/* Returns the step of the run that makes the pattern's n-th access; NULL if not among the kept
 * steps. */
const struct finding_step *explain_shown_step(
	const struct explain_shown *shown, const struct pattern *pattern, unsigned access);

/* Returns the steps about the pattern's variables that the report for people shows of a run: the first ones, or those
 * around step `from`. The caller frees the array. */
const struct finding_step **explain_report_rows_of(const struct explain_answer *answer,
	const struct explain_shown *shown, uint64_t from, uint32_t *count);
/* Frees the steps of the answer's failing or passing run that no report shows. The failing run comes first. */
void explain_answer_trim(struct explain_answer *answer, struct explain_shown *shown);

/* Appends "bank.c:41", or "bank+0x1234" without lines. */
void explain_add_location(struct strbuf *out, const struct explain_location *location);
/* Returns the step of the failing run that made the n-th access; NULL if no failing run is
 * known. */
const struct finding_step *explain_answer_step(
	const struct explain_answer *answer, unsigned access);
/* Returns the location of the n-th access. Inside a library's header, this is the user's line that
 * calls it, from the failing run's call stack. */
struct explain_location explain_answer_location(const struct explain_result *result,
	const struct explain_answer *answer, const struct pattern *pattern, unsigned access);
/* Returns a verb: "reads", "writes", "frees"; for a synchronisation object "locks", "signals" and
 * others. */
const char *explain_access_verb(const struct explain_answer *answer, unsigned access);
/* Returns the meaning of the pattern in one sentence. */
const char *explain_meaning(const struct pattern *pattern);
/* Appends a sentence such as "make a.c:12 to a.c:14 (f) one atomic step ...". */
void explain_add_remedy(struct strbuf *out, const struct explain_result *result,
	const struct explain_answer *answer);

/* Print the result: explain_report.c for people, at most a screen; explain_json.c for tools,
 * complete. */
void explain_print(const struct explain_result *result, FILE *stream);
/* Includes the first `patterns_most` patterns of the ranking; the caller frees the text. */
char *explain_to_json(const struct explain_result *result, uint32_t patterns_most);
