#include "commands/branches/branches_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "plan/stop.h"
#include "process/target.h"
#include "branches/record/record_file.h"
#include "platform/platform.h"
#include "symbols/symbols.h"

/* Maximum number of steps relative to the recorded run, in which not every access at a chosen site
 * is a step. */
#define STEPS_FACTOR 4

int branches_run(struct branches_state *state, const struct record_request *request,
	struct recorded *out, struct error *err)
{
	const int status = record_run(request, out, err);

	state->result->runs += status == 0;
	state->result->failures += status == 0 && out->is_failure;
	return status;
}

/* Part of the time for investigating failures, with its maximum. Nothing is reserved before the
 * first failure. */
#define LOOK_PARTS 4
#define LOOK_MOST_NS UINT64_C(5000000000)

uint64_t branches_end_ns(const struct branches_state *state)
{
	const uint64_t limit = state->options->sensitivity.time_ns;

	return limit ? state->begin_ns + limit : 0;
}

uint64_t branches_search_end_ns(const struct branches_state *state)
{
	const uint64_t part = state->options->sensitivity.time_ns / LOOK_PARTS;
	const uint64_t look_ns = part < LOOK_MOST_NS ? part : LOOK_MOST_NS;

	return branches_end_ns(state) - (state->failure_count ? look_ns : 0);
}

/* Returns the time left for the search. 0: no limit; 1: none left. */
static uint64_t branches_time_left(const struct branches_state *state)
{
	return record_time_until(branches_search_end_ns(state));
}

static bool branches_has_time(const struct branches_state *state)
{
	return branches_time_left(state) != 1;
}

/* Time limit of a run, as a factor on the recorded run. A run with another schedule may wait
 * forever for something outside the program. */
#define RUN_FACTOR 20
#define RUN_MORE_NS UINT64_C(5000000000)

uint64_t branches_run_until_ns(const struct branches_state *state)
{
	const uint64_t end = branches_search_end_ns(state);
	const uint64_t own =
		platform_monotonic_ns() + RUN_FACTOR * state->result->run_ns + RUN_MORE_NS;

	return end && end < own ? end : own;
}

/* Reserves time for the investigation of the first failure. */
static void branches_reserve_time(struct branches_state *state)
{
	const uint64_t left = branches_time_left(state);

	if (left && state->failure_count)
		sensitivity->hurry(state->analysis, left);
}

/* Classifies the branch: makes random runs from it on until one fails. */
static int branches_continue(struct branches_state *state, struct record_request request,
	struct sensitive_branch *branch, struct error *err)
{
	const struct branches_options *options = state->options;
	int status = 0;

	while (status == 0 && branch->class != CLASS_BUG &&
		branch->continuations < options->continuations && branches_has_time(state) &&
		!*options->campaign.is_interrupted) {
		struct recorded run;

		request.random_seed = ++branch->continuations;
		request.until_ns = branches_run_until_ns(state);
		status = branches_run(state, &request, &run, err);
		if (status == 0 && run.is_failure) {
			branch->failing_seed = request.random_seed;
			branches_add_failure(state, branch, &run, request.chosen);
		}
		recorded_release(&run);
	}
	return status;
}

static bool branches_is_reported(const struct branches_result *result, enum sensitive_kind kind,
	const struct sensitive_location *location)
{
	for (uint32_t i = 0; i < result->count; i++) {
		const struct sensitive_branch *item = &result->items[i];

		if (item->line == location->line && strcmp(item->file, location->file) == 0 &&
			(item->line || strcmp(item->function, location->function) == 0) &&
			(item->kind == kind || (sensitive_is_condition(item->kind) &&
						       sensitive_is_condition(kind))))
			return true;
	}
	return false;
}

/* Returns whether the branch is already known. Branches are flipped again in each trace, because
 * they lead to other runs; failures are not. */
static bool branches_is_known(
	void *context, enum sensitive_kind kind, const struct sensitive_location *location)
{
	const struct branches_state *state = context;

	return (state->options->rounds <= 1 || sensitive_is_failure(kind)) &&
	       branches_is_reported(state->result, kind, location);
}

/* Queues the run for analysis. Takes ownership of it. */
static void branches_add_trace(struct branches_state *state, struct recorded *run, uint32_t round)
{
	if (state->trace_count == state->options->rounds * 8 && round) {
		recorded_release(run);
		return;
	}
	ARRAY_APPEND(state->traces, state->trace_count,
		(struct branches_trace){.run = *run, .round = round});
	*run = (struct recorded){0};
}

/* Returns whether the flipped branch itself is reported, or only serves to reach another run. */
static bool branches_is_wanted(const struct branches_state *state,
	const struct sensitive_candidate *candidate, const struct recorded *run)
{
	if (branches_is_reported(state->result, candidate->kind, &candidate->location))
		return false;
	return !state->options->sensitivity.only_failures ||
	       sensitive_is_failure(candidate->kind) || run->is_failure;
}

static int branches_take_flipped(struct branches_state *state, const struct record_request *request,
	const struct sensitive_candidate *candidate, struct recorded *run, struct error *err)
{
	int status = 0;

	if (branches_is_wanted(state, candidate, run)) {
		struct sensitive_branch *branch =
			branches_add(state->result, request->like, candidate);

		branch->round = state->trace->round;
		branches_add_interleavings(state, branch, &run->record);
		if (run->is_failure)
			branches_add_failure(state, branch, run, candidate->chosen);
		else
			status = branches_continue(state, *request, branch, err);
	}
	if (state->options->rounds > 1 && !run->is_failure)
		branches_add_trace(state, run, state->trace->round + 1);
	return status;
}

/* Takes a run that fails before it reaches its branch: a failure of the program, not an answer. */
static void branches_add_early_failure(struct branches_state *state,
	const struct sensitive_candidate *candidate, const struct recorded *run)
{
	struct sensitive_branch *branch =
		branches_add_early(state->result, &state->trace->run.record, candidate, run);

	if (!branch)
		return;
	branch->round = state->trace->round;
	branches_add_failure(state, branch, run, candidate->chosen);
}

static int branches_confirm_candidate(struct branches_state *state,
	const struct sensitive_candidate *candidate, struct error *err)
{
	const struct run_record *record = &state->trace->run.record;
	struct recorded run = {0};
	struct record_request request = {.options = &state->campaign,
		.like = record,
		.chosen = candidate->chosen,
		.segments = candidate->segments,
		.segment_count = candidate->segment_count,
		.until_ns = branches_run_until_ns(state),
		.wants_symbols = !state->symbols};
	struct sensitivity_figures figures;
	int status;

	sensitivity->figures(state->analysis, &figures);
	request.steps_most = STEPS_FACTOR * figures.steps;
	status = branches_run(state, &request, &run, err);
	if (status == 0) {
		if (!state->symbols) {
			state->symbols = run.symbols;
			run.symbols = NULL;
		}
		request.wants_symbols = false;
		/*
		 * The candidate is invalid after the verdict, because the solver's worker
		 * continues.
		 */
		const enum sensitivity_verdict verdict =
			sensitivity->check(state->analysis, &run.record);

		/* A second pass over the same run, to check that it behaves as it did first. */
		if (state->options->samples && !state->trace->round)
			(void)sensitivity->observe(state->analysis, &run.record);
		if (verdict == VERDICT_FLIPPED)
			status = branches_take_flipped(state, &request, candidate, &run, err);
		else if (run.is_cut)
			state->result->cut_count++;
		else if (verdict == VERDICT_NOT_REACHED && branches_failed_early(&run, candidate))
			branches_add_early_failure(state, candidate, &run);
		/* An interrupted comparison of the runs shows nothing. */
		else if (!*state->options->campaign.is_interrupted)
			branches_add_unproven(state->result, record, candidate, &run, verdict);
		branches_reserve_time(state);
		sensitivity->settle(state->analysis, verdict);
	}
	recorded_release(&run);
	return status;
}

static bool branches_report_progress(void *context, const struct sensitivity_figures *figures)
{
	const struct branches_state *state = context;
	const struct branches_progress progress = {.found = state->result->count,
		.round = state->trace_next,
		.rounds = state->trace_count,
		.chunks = figures->chunks_seen,
		.chunk_count = figures->chunk_count,
		.queries = figures->queries};

	if (state->options->progress)
		state->options->progress(state->options->context, &progress);
	return !*state->options->campaign.is_interrupted;
}

/* Returns whether a run with the same direction at every branch was analysed before. */
static bool branches_is_repeated(struct branches_state *state, uint64_t path)
{
	for (uint32_t i = 0; i < state->path_count; i++)
		if (state->paths[i] == path)
			return true;
	ARRAY_APPEND(state->paths, state->path_count, path);
	return false;
}

static int branches_search_trace(struct branches_state *state, struct error *err)
{
	struct sensitive_candidate candidate;
	int status = branches_observe(state, err);

	while (status == 0 && !*state->options->campaign.is_interrupted &&
		sensitivity->next(state->analysis, &candidate)) {
		struct sensitivity_figures figures;

		sensitivity->figures(state->analysis, &figures);
		(void)branches_report_progress(
			state, &figures); /* the caller checks for the end of the time */
		status = branches_confirm_candidate(state, &candidate, err);
	}
	if (status == 0 && state->options->has_store_buffers)
		status = branches_search_buffered(state, err);
	return status;
}

static void branches_add_figures(
	struct branches_result *result, const struct sensitivity_figures *figures)
{
	struct sensitivity_figures *total = &result->figures;

	if (!result->traces++) {
		*total = *figures;
		return;
	}
	total->constraints += figures->constraints;
	total->chunks += figures->chunks;
	total->queries += figures->queries;
	total->timeouts += figures->timeouts;
	total->trials += figures->trials;
	total->unasked += figures->unasked;
	total->walk_ns += figures->walk_ns;
	total->events_ns += figures->events_ns;
	total->solve_ns += figures->solve_ns;
	total->is_model_wrong |= figures->is_model_wrong;
}

static int branches_analyse(
	struct branches_state *state, struct branches_trace *trace, struct error *err)
{
	struct sensitivity_options options = state->options->sensitivity;
	struct sensitivity_figures figures;
	int status;

	options.is_known = branches_is_known;
	options.waiting = branches_report_progress;
	options.context = state;
	options.is_interrupted = state->options->campaign.is_interrupted;
	options.time_ns = branches_time_left(state);
	if (trace->round) /* another run has other scheduling points */
		options.points_from = options.points_to = 0;
	if (state->options->rounds > 1)
		options.only_failures = false; /* other branches lead to failing ones */
	options.splits_lines = state->options->rounds > 1;
	state->trace = trace;
	status = sensitivity_load(err);
	if (status == 0)
		status = sensitivity->open(
			&state->analysis, &trace->run.record, state->program, &options, err);
	if (status < 0)
		return status == ERROR_INTERRUPTED ? 0 : status;
	sensitivity->figures(state->analysis, &figures);
	if (!branches_is_repeated(state, figures.path)) {
		status = branches_search_trace(state, err);
		/* An interrupt does not invalidate what was shown before. */
		if (status == ERROR_INTERRUPTED)
			status = 0;
		if (status == 0 && state->options->samples && !trace->round)
			status = branches_sample(state, err);
		sensitivity->figures(state->analysis, &figures);
		branches_add_figures(state->result, &figures);
	}
	if (!sensitivity->close(state->analysis))
		state->result->has_left_thread = true;
	return status;
}

static int branches_analyse_all(struct branches_state *state, struct error *err)
{
	const uint32_t rounds = state->options->rounds ? state->options->rounds : 1;
	int status = 0;

	while (status == 0 && state->trace_next < state->trace_count &&
		state->result->traces < rounds && !state->result->has_left_thread &&
		!*state->options->campaign.is_interrupted &&
		(!state->result->traces || branches_has_time(state))) {
		struct branches_trace trace = state->traces[state->trace_next++];

		state->traces[state->trace_next - 1] = (struct branches_trace){0};
		status = branches_analyse(state, &trace, err);
		if (!state->result->has_left_thread)
			recorded_release(&trace.run);
	}
	state->result->is_interrupted = *state->options->campaign.is_interrupted == STOP_USER;
	return status;
}

static void branches_release_state(struct branches_state *state)
{
	for (uint32_t i = 0; i < state->trace_count; i++)
		recorded_release(&state->traces[i].run);
	free(state->traces);
	free(state->paths);
	branches_release_failures(state);
	symbols_free(state->symbols);
}

static int branches_check_build(const struct target *target, struct error *err)
{
	if (target->traits.tsan == TSAN_NONE || target->traits.has_sites)
		return 0;
	return error_set(err, ERROR_TARGET,
		"%s is built with -fsanitize=thread, whose calls say nothing of branches; build it with raddle-cc",
		target->path);
}

static int branches_check(const struct recorded *first, const char *program, struct error *err)
{
	if (!first->has_sites)
		return error_set(err, ERROR_TARGET,
			"%s was not built by raddle-cc, so raddle does not see its branches; build it with raddle-cc",
			program);
	if (!first->is_live && first->is_failure)
		return error_set(err, ERROR_TARGET,
			"%s ended as %s before it made a thread, so no branch depends on the schedule; run it without raddle first",
			program, outcome_descriptions[first->run.outcome.kind].word);
	if (!first->is_live)
		return error_set(err, ERROR_TARGET,
			"%s made no thread, so no branch depends on the schedule; if it starts the program with the threads, give raddle that program",
			program);
	return 0;
}

/* Takes the first run to analyse: made now, or read from a saved record. */
static int branches_take_first(struct branches_state *state, const struct record_request *request,
	struct recorded *first, struct error *err)
{
	const struct branches_options *options = state->options;

	if (!options->from_record)
		return branches_run(state, request, first, err);
	first->has_sites = first->is_live = true; /* a saved record implies both */
	return record_file_read(&first->record, options->from_record, err);
}

int branches_search(
	const struct branches_options *options, struct branches_result *out, struct error *err)
{
	const char *program = options->campaign.argv[0];
	const struct record_request request = {
		.options = &options->campaign, .points_most = options->sensitivity.points_to};
	struct branches_state state = {.options = options,
		.campaign = options->campaign,
		.result = out,
		.begin_ns = platform_monotonic_ns()};
	struct recorded first = {0};
	struct target target = {0};
	int status = target_find(&target, program, err);

	*out = (struct branches_result){0};
	if (status < 0)
		return status;
	status = branches_check_build(&target, err);
	if (status == 0)
		status = branches_take_first(&state, &request, &first, err);
	if (status == 0)
		status = branches_check(&first, program, err);
	if (status == 0 && options->save_record)
		status = record_file_write(&first.record, options->save_record, err);
	if (status == 0) {
		out->record_bytes = first.record.bytes;
		out->run_ns = first.run_ns;
		out->run_processor_ns = first.processor_ns;
		out->is_partial = first.record.is_partial && !request.points_most;
		out->points_from = options->sensitivity.points_from;
		out->points_to = options->sensitivity.points_to;
		out->is_failing = first.is_failure;
		out->outcome = first.run.outcome;
		state.program = target.path;
		branches_add_trace(&state, &first, 0);
		status = branches_analyse_all(&state, err);
		if (status == 0)
			status = branches_keep_failures(&state, err);
		out->seconds = (double)(platform_monotonic_ns() - state.begin_ns) / 1e9;
	}
	branches_release_state(&state);
	recorded_release(&first);
	target_release(&target);
	return status;
}
