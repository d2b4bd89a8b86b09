/* What the files of the search for branches share. */
#ifndef RADDLE_COMMANDS_BRANCHES_BRANCHES_INTERNAL_H
#define RADDLE_COMMANDS_BRANCHES_BRANCHES_INTERNAL_H

#include "commands/branches/branches.h"
#include "commands/branches/record_run.h"

/* A recorded run that is to be analysed. */
struct branches_trace {
	struct recorded run;
	uint32_t round; /* how many flipped branches led to it */
};

/* A failure that was seen; looked into when the search is over, which has the time first. */
struct branches_failure {
	uint64_t key; /* failure_key() */
	struct failure failure;
	struct memory_view view; /* what was a scheduling point in that run */
};

struct branches_state {
	const struct branches_options *options;
	struct branches_result *result;
	const char *program; /* its path */
	uint64_t begin_ns;
	struct branches_trace *traces; /* still to be analysed, oldest first */
	uint32_t trace_count, trace_capacity, trace_next;
	uint64_t *paths; /* of the runs that were analysed */
	uint32_t path_count;
	struct branches_failure *failures;
	uint32_t failure_count;
	struct symbols *symbols; /* NULL: not known */
	/* The one that is being analysed. */
	const struct branches_trace *trace;
	struct sensitivity *analysis;
};

/* A run behind the branch failed. `chosen`: the sites whose accesses were its scheduling points. */
void branches_add_failure(struct branches_state *state, struct sensitive_branch *branch,
	const struct recorded *run, const uint64_t *chosen);
/* Makes findings of these, so that `raddle replay` can show them, as long as there is time. */
int branches_keep_failures(struct branches_state *state, struct error *err);
void branches_release_failures(struct branches_state *state);

/*
 * How the record and this run came to the branch that was just proven. The place of a branch is known before; that is
 * what the last step stands at.
 */
void branches_add_interleavings(struct branches_state *state, struct sensitive_branch *branch,
	const struct run_record *run);
void branches_release_interleaving(struct branch_interleaving *interleaving);

/* The candidate as one more branch of the result. `record`: of the run that it was found in. */
struct sensitive_branch *branches_add(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate);
/* Did the run follow the schedule, and fail before that was over? */
bool branches_failed_early(const struct recorded *run, const struct sensitive_candidate *candidate);
/* The candidate as what such a run should have come to. NULL: its failure has been told. */
struct sensitive_branch *branches_add_early(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate,
	const struct recorded *run);
/* Likewise as an answer that `run` did not show. */
void branches_add_unproven(struct branches_result *result, const struct run_record *record,
	const struct sensitive_candidate *candidate, const struct recorded *run,
	enum sensitivity_verdict verdict);

/* record_run(), counted. */
int branches_run(struct branches_state *state, const struct record_request *request,
	struct recorded *out, struct error *err);
/* Of the monotonic clock: when the command shall have ended, and when searching shall have, which leaves time to look into failures. 0: never. */
uint64_t branches_end_ns(const struct branches_state *state);
uint64_t branches_search_end_ns(const struct branches_state *state);
/* "main.0" */
char *branches_thread_name(const struct run_record *record, uint16_t thread);
/* The runs of --sample, for the first trace. */
int branches_sample(struct branches_state *state, struct error *err);

char *branches_copy_text(const char *text);
/* To be freed. */
char *branches_path_of(const struct sensitive_place *place);

#endif
