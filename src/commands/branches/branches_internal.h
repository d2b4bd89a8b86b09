#pragma once

#include "commands/branches/branches.h"
#include "commands/branches/record_run.h"

/* A recorded run that waits for its analysis. */
struct branches_trace {
	struct recorded run;
	uint32_t round; /* number of flipped branches that led to it */
};

/* A failure seen during the search. It is investigated after the search, which has priority. */
struct branches_failure {
	uint64_t key;			/* failure_key() */
	enum memory_model memory_model; /* of the run */
	struct failure failure;
	struct memory_view view; /* the scheduling points at memory accesses of that run */
};

struct branches_state {
	const struct branches_options *options;
	struct campaign_options campaign; /* those of `options`; with store buffers later */
	struct branches_result *result;
	const char *program; /* path */
	uint64_t begin_ns;
	struct branches_trace *traces; /* traces to analyse, oldest first */
	uint32_t trace_count, trace_next;
	uint64_t *paths; /* hashes of the runs analysed so far */
	uint32_t path_count;
	struct branches_failure *failures;
	uint32_t failure_count;
	struct symbols *symbols; /* NULL if unknown */
	const struct branches_trace *trace;
	struct sensitivity *analysis;
};

/* `chosen`: the sites whose accesses were scheduling points. */
void branches_add_failure(struct branches_state *state, struct sensitive_branch *branch,
	const struct recorded *run, const uint64_t *chosen);
/* Stores the noted failures as findings for `raddle replay`, as far as time allows. */
int branches_keep_failures(struct branches_state *state, struct error *err);
void branches_release_failures(struct branches_state *state);

/* Adds the interleavings with which the recorded run and `run` reached the proven branch, whose
 * location is filled in. */
void branches_add_interleavings(struct branches_state *state, struct sensitive_branch *branch,
	const struct run_record *run);
void branches_release_interleaving(struct branch_interleaving *interleaving);

/* Adds the candidate to the result. `record`: the run in which the candidate was found. */
struct sensitive_branch *branches_add(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate);
/* Returns whether the run followed the schedule and failed before its end. */
bool branches_failed_early(const struct recorded *run, const struct sensitive_candidate *candidate);
/* Adds a run that failed before the candidate's branch. Returns NULL if the failure was already
 * reported. */
struct sensitive_branch *branches_add_early(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate,
	const struct recorded *run);
/* Adds a solution that `run` did not confirm. */
void branches_add_unproven(struct branches_result *result, const struct run_record *record,
	const struct sensitive_candidate *candidate, const struct recorded *run,
	enum sensitivity_verdict verdict);

/* Does what record_run() does, and counts the run. */
int branches_run(struct branches_state *state, const struct record_request *request,
	struct recorded *out, struct error *err);
/* Returns the end of the search on the monotonic clock, 0: none. It is earlier than the command's
 * end, to leave time for failures. */
uint64_t branches_end_ns(const struct branches_state *state);
uint64_t branches_search_end_ns(const struct branches_state *state);
/* Returns the latest end of a run that is made now. */
uint64_t branches_run_until_ns(const struct branches_state *state);
/* Returns the thread's name, such as "main.0". */
char *branches_thread_name(const struct run_record *record, uint16_t thread);
/* Makes random runs from which the analysis takes answers before it uses the solver. */
int branches_observe(struct branches_state *state, struct error *err);
/* Makes the runs of --sample, for the first trace. */
int branches_sample(struct branches_state *state, struct error *err);

/* Makes the runs of --store-buffers, after the search. Adds the branches that they flipped. */
int branches_search_buffered(struct branches_state *state, struct error *err);

/* The caller frees the text. */
char *branches_path_of(const struct sensitive_location *location);
