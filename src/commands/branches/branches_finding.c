/* Turns a failing run behind a flipped branch into a finding like those of `raddle run`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/shell_words.h"
#include "base/strbuf.h"
#include "commands/branches/branches_internal.h"
#include "investigate/investigate.h"
#include "investigate/probe/probe.h"
#include "plan/restart.h"
#include "store/store.h"
#include "process/target.h"
#include "platform/platform.h"

/*
 * Limit for a replay: one that left its schedule may wait forever for something outside the
 * program.
 */
#define REPLAY_LIMIT_NS UINT64_C(60000000000)

static void branches_finding_fill_row(const struct campaign_options *options,
	const struct branches_result *result, struct store_campaign *row)
{
	struct strbuf command = STRBUF_EMPTY;

	shell_words_add(&command, options->argv);
	*row = (struct store_campaign){.id = result->campaign,
		.command = strbuf_detach(&command),
		.options = settings_to_json(&options->settings),
		.strategy = string_copy("branches"),
		.seed = options->seed,
		.runs = result->runs,
		.failures = result->failures,
		.seconds = result->seconds,
		.state = string_copy(result->is_interrupted ? "interrupted" : "done"),
		.restart = string_copy("exec"),
		.started = time(NULL)};
}

/* Notes the program's build: stores of different builds are not merged. */
static int branches_finding_note_build(
	const struct campaign_options *options, struct store_campaign *row, struct error *err)
{
	struct target target = {0};
	int status = target_find(&target, options->argv[0], err);

	if (status == 0)
		status = target_fingerprint(&target, &row->target, err);
	target_release(&target);
	return status;
}

static int branches_finding_open_row(struct store **store, const struct campaign_options *options,
	struct branches_result *result, struct error *err)
{
	const char *folder = *result->fallback ? result->fallback : options->directory;
	struct store_campaign row;
	int status = store_open(store, folder, STORE_WRITE, err);

	if (status < 0)
		return status;
	branches_finding_fill_row(options, result, &row);
	status = branches_finding_note_build(options, &row, err);
	if (status == 0)
		status = row.id ? store_campaign_update(*store, &row, err)
				: store_campaign_begin(*store, &row, err);
	result->campaign = row.id;
	store_campaign_release(&row);
	if (status < 0)
		store_close(*store);
	return status;
}

/* Stores a finding, or the document if `finding` is NULL. */
static int branches_finding_store(const struct campaign_options *options,
	struct branches_result *result, struct finding *finding, const char *json,
	struct error *err)
{
	struct store_document document = {.kind = "branches", .text = (char *)(uintptr_t)json};
	struct store *store;
	bool is_new;
	int status = branches_finding_open_row(&store, options, result, err);

	if (status < 0)
		return status;
	document.campaign = result->campaign;
	status = finding ? store_add_finding(store, result->campaign, finding, &is_new, err)
			 : store_keep_document(store, &document, err);
	store_close(store);
	return status;
}

int branches_store(const struct campaign_options *options, struct branches_result *result,
	struct finding *finding, const char *json, struct error *err)
{
	struct store_fallback fallback = {0};
	struct error here;
	int status = branches_finding_store(options, result, finding, json, err);

	if (status == 0 || *result->fallback || store_fallback_open(&fallback, &here) < 0)
		return status; /* the first error is reported */
	store_close(fallback.store);
	memcpy(result->fallback, fallback.folder, sizeof result->fallback);
	result->campaign = 0;
	return branches_finding_store(options, result, finding, json, &here) < 0 ? status : 0;
}

/* Makes the schedule follow the usual rules. A thread of a recorded run may repeat a read any
 * number of times; other runs end its time slice then. The schedule is therefore followed once
 * under these rules, with the same failure. */
static int branches_finding_follow(
	const struct probe_params *params, struct failure *failure, struct error *err)
{
	const struct probe_plan plan = probe_plan_exact(failure);
	struct probe probe;
	int status = probe_open(&probe, params, err);

	if (status < 0)
		return status;
	status = probe_run(&probe, &plan, err);
	if (status == 0 && probe.is_failure &&
		probe.worker.contract->outcome.kind == failure->outcome.kind &&
		probe.worker.contract->outcome.code == failure->outcome.code)
		failure_take(failure, probe.worker.contract);
	probe_close(&probe);
	return status;
}

/* Approximate number of runs that follow minimising: confirmation, inspection, a passing run. */
#define RUNS_BEHIND 8
/* Number of these runs that every finding needs. */
#define RUNS_LAST 3
/* Time for a failure, and for each of its runs, after an interrupt. */
#define INTERRUPTED_NS UINT64_C(250000000)

/* Divides the remaining time into equal shares. `run_ns`: duration of one run. */
static void branches_finding_limit_minimising(const struct branches_state *state, uint32_t left,
	uint64_t run_ns, struct investigation *investigation)
{
	const uint64_t share = record_time_until(branches_end_ns(state)) / left,
		       behind = RUNS_BEHIND * run_ns;

	investigation->until_ns = branches_end_ns(state);
	if (investigation->until_ns > RUNS_LAST * run_ns)
		investigation->until_ns -= RUNS_LAST * run_ns;
	/* An interrupt skips minimising, but the finding is still kept. */
	investigation->without_minimising = (investigation->until_ns && share <= behind) ||
					    *state->options->campaign.is_interrupted;
	investigation->minimise_ns = share > behind ? share - behind : share;
}

/* Returns whether more time could have improved the result. */
static bool branches_finding_is_limited(const struct investigation *investigation)
{
	return investigation->without_minimising ||
	       (investigation->minimise_ns &&
		       investigation->minimise_ns < MINIMISE_BUDGET.slow_time_ns);
}

static int branches_finding_investigate_run(struct branches_state *state,
	struct branches_failure *of, const struct target *target, uint32_t left,
	struct sensitive_branch *reported, struct error *err)
{
	static const volatile int never = 0;
	const struct campaign_options *options = &state->options->campaign;
	struct settings settings = options->settings;
	const bool is_interrupted = *options->is_interrupted;
	const uint64_t begin = platform_monotonic_ns();
	struct investigation investigation = {.workers = state->options->sensitivity.workers,
		.probe = {.worker = {.target = target,
				  .argv = options->argv,
				  .input = options->settings.input,
				  .runtime = options->runtime,
				  .output = OUTPUT_KEEP},
			.settings = &settings,
			.memory = &of->view,
			.restart = RESTART_EXEC,
			.run_limit_ns = is_interrupted ? INTERRUPTED_NS : REPLAY_LIMIT_NS,
			.is_interrupted = is_interrupted ? &never : options->is_interrupted}};
	struct finding finding = {0};
	int status;

	settings.memory_model = of->memory_model;
	status = branches_finding_follow(&investigation.probe, &of->failure, err);
	if (status < 0)
		return status;
	/* --check judges ended processes: every run needs a process of its own. */
	if (!options->settings.check)
		investigation.probe.restart = restart_fastest(options->settings.executor);
	branches_finding_limit_minimising(
		state, left, platform_monotonic_ns() - begin, &investigation);
	if (is_interrupted)
		investigation.until_ns = begin + INTERRUPTED_NS;
	status = investigate(&investigation, &of->failure, &finding, err);
	if (status < 0)
		return status;
	finding.strategy = string_copy("branches");
	finding.seed = options->seed;
	reported->kept = KEPT_NOT;
	if (confirmation_is_repeatable(&investigation.confirmation)) {
		status = branches_store(options, state->result, &finding, NULL, err);
		reported->is_in_fallback = *state->result->fallback;
		(void)snprintf(
			reported->finding, sizeof reported->finding, "%s", finding.id); /* fits */
		reported->kept =
			!investigation.incomplete || !branches_finding_is_limited(&investigation)
				? KEPT_MINIMAL
				: KEPT_AS_IT_WAS;
	}
	finding_release(&finding);
	return status;
}

void branches_add_failure(struct branches_state *state, struct sensitive_branch *branch,
	const struct recorded *run, const uint64_t *chosen)
{
	struct branches_failure *added;

	branch->class = CLASS_BUG;
	branch->outcome = run->run.outcome;
	branch->failure = failure_key(&run->run.outcome);
	for (uint32_t i = 0; i < state->failure_count; i++)
		if (state->failures[i].key == branch->failure)
			return;
	added = ARRAY_NEXT(state->failures, state->failure_count);
	*added = (struct branches_failure){
		.key = branch->failure, .memory_model = state->campaign.settings.memory_model};
	failure_copy(&added->failure, &run->run);
	record_view_fill(&added->view, MEMORY_ALL, &run->record, chosen);
}

/* Copies the result to all branches that led to the same failure. */
static void branches_finding_report(
	struct branches_result *result, uint64_t key, const struct sensitive_branch *reported)
{
	for (uint32_t i = 0; i < result->count + result->early_count; i++) {
		struct sensitive_branch *branch =
			i < result->count ? &result->items[i] : &result->early[i - result->count];

		if (branch->class != CLASS_BUG || branch->failure != key)
			continue;
		branch->kept = reported->kept;
		branch->is_in_fallback = reported->is_in_fallback;
		memcpy(branch->finding, reported->finding, sizeof branch->finding);
	}
}

int branches_keep_failures(struct branches_state *state, struct error *err)
{
	struct target target = {0};
	int status;

	if (!state->failure_count)
		return 0;
	status = target_find(&target, state->options->campaign.argv[0], err);
	for (uint32_t i = 0; status == 0 && i < state->failure_count; i++) {
		struct sensitive_branch reported = {.kept = KEPT_NOT_LOOKED_AT};

		/* The first failure is always investigated: this costs a run or two. */
		if (!i || record_time_until(branches_end_ns(state)) != 1)
			status = branches_finding_investigate_run(state, &state->failures[i],
				&target, state->failure_count - i, &reported, err);
		branches_finding_report(state->result, state->failures[i].key, &reported);
	}
	target_release(&target);
	return status;
}

void branches_release_failures(struct branches_state *state)
{
	for (uint32_t i = 0; i < state->failure_count; i++) {
		failure_release(&state->failures[i].failure);
		memory_view_release(&state->failures[i].view);
	}
	free(state->failures);
}
