/*
 * Makes a finding of a run that showed a violation. A fresh process must show the violation again,
 * and fail again if the run failed. The run is then minimised and stored with its schedule.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/hash.h"
#include "base/strbuf.h"
#include "investigate/investigate.h"
#include "commands/predict/predict_internal.h"
#include "investigate/probe/probe.h"
#include "investigate/minimise/minimise.h"
#include "store/store.h"
#include "store/surroundings.h"
#include "findings/source_lines.h"

/* Small: a program may have dozens of violations, and failures are minimised already. */
#define MINIMISE_VIOLATION_BUDGET ((struct budget){.runs = 5000, .time_ns = UINT64_C(1000000000)})

static void predict_keep_show_recorded(
	const struct predict *predict, const struct candidate *candidate, struct finding *finding)
{
	const uint32_t run = candidate->locations[0].run;
	struct finding recorded;

	/* The finding is kept with one interleaving if the other is not available. */
	if (predict_show_run(predict, run, predict_span_of(candidate, run), &recorded, NULL) < 0)
		return;
	finding->passing_steps = recorded.steps;
	finding->passing_step_count = recorded.step_count;
	finding->passing_steps_left_out = recorded.steps_left_out;
	recorded.steps = NULL;
	recorded.step_count = 0;
	finding_release(&recorded);
}

/* Names the finding. A failing run keeps its failure's kind, but is another finding. */
static void predict_keep_set_title(const struct predict_keeping *keeping, struct finding *finding)
{
	char *failure = finding->title;
	const char *title = keeping->candidate->title;
	/* A race's title says so already. */
	const char *word = keeping->candidate->kind == CANDIDATE_RACE ? "" : "violation: ";

	if (keeping->has_failed) {
		finding->signature = hash_pair(keeping->candidate->key, finding->signature);
		BUG_ON(asprintf(&finding->title, "%s%s; then %s", word, title,
			       failure ? failure : "it fails") < 0);
	} else {
		finding->kind = OUTCOME_VIOLATION;
		finding->code = 0;
		finding->signature = keeping->candidate->key;
		BUG_ON(asprintf(&finding->title, "%s%s", word, title) < 0);
	}
	free(failure);
}

static void predict_keep_complete_finding(
	const struct predict_keeping *keeping, struct finding *finding)
{
	const struct predict *predict = keeping->predict;
	const struct campaign_options *options = &predict->options->campaign;

	predict_keep_set_title(keeping, finding);
	finding->argv = strings_copy(options->argv);
	finding->directory = getcwd(NULL, 0);
	finding->input = string_copy(options->settings.input);
	finding->settings = settings_to_json(&predict->driven);
	finding->environment = surroundings_take();
	finding->memory = predict->has_view ? memory_view_to_json(&predict->view) : NULL;
	finding->strategy = string_copy("directed");
	finding->seed = options->seed;
	finding->run_number = keeping->run->run_number + 1;
	finding->replays = finding->replays_failed_again = 1;
	predict_keep_show_recorded(predict, keeping->candidate, finding);
	finding_keep_sources(finding);
}

static int predict_keep_store_it(
	const struct predict *predict, int64_t campaign, struct finding *finding, struct error *err)
{
	struct store *store = predict->options->campaign.store;
	bool is_new;
	int result;

	if (store)
		return store_add_finding(store, campaign, finding, &is_new, err);
	result = store_open(&store, predict->options->campaign.directory, STORE_WRITE, err);
	if (result < 0)
		return result;
	result = store_add_finding(store, campaign, finding, &is_new, err);
	store_close(store);
	return result;
}

static struct probe_params predict_keep_probe_of(
	const struct predict_keeping *keeping, const struct target *target)
{
	const struct predict *predict = keeping->predict;
	const struct campaign_options *options = &predict->options->campaign;

	return (struct probe_params){
		.worker = {.target = target,
			.argv = options->argv,
			.input = options->settings.input,
			.runtime = options->runtime,
			.output = OUTPUT_KEEP},
		.settings = &predict->driven,
		.memory = predict->has_view ? &predict->view : NULL,
		.restart = RESTART_EXEC,
		.trace_events = PREDICT_EVENTS_MAX,
		.has_contexts = true,
		.is_interrupted = options->is_interrupted,
	};
}

/* Returns whether the run has the accesses in their order, and the same result, pass or fail. */
static bool predict_keep_shows(void *context, const struct probe *probe)
{
	const struct predict_keeping *keeping = context;

	return (keeping->has_failed ? probe_shows(probe, keeping->run) : !probe->is_failure) &&
	       predict_judge_run(
		       keeping->predict, probe->worker.contract, keeping->judge, keeping->context);
}

/* Repeats the run. *is_shown false: the run does not repeat. */
static int predict_keep_repeat(const struct predict_keeping *keeping, const struct target *target,
	const struct failure *run, struct finding *finding, bool *is_shown, struct error *err)
{
	const struct probe_plan plan = probe_plan_exact(run);
	const struct probe_params params = predict_keep_probe_of(keeping, target);
	struct probe probe;
	int result = probe_open(&probe, &params, err);

	*is_shown = false;
	if (result < 0)
		return result;
	result = investigate_trace_known(&probe, &plan, keeping->predict->symbols, finding, err);
	if (result == 0)
		*is_shown = predict_keep_shows((void *)(uintptr_t)keeping, &probe); /* only read */
	probe_close(&probe);
	return result;
}

/* Replaces the finding by a simpler run that shows the violation and repeats. */
static int predict_keep_minimise(const struct predict_keeping *keeping, const struct target *target,
	struct finding *finding, struct error *err)
{
	struct minimise_params params = {
		.probe = predict_keep_probe_of(keeping, target),
		.budget = MINIMISE_VIOLATION_BUDGET,
		.shows = predict_keep_shows,
		.shows_context = (void *)(uintptr_t)keeping, /* not modified */
	};
	struct failure run = {0};
	struct finding simpler = {0};
	const char *incomplete;
	bool is_shown = false;
	int result;

	params.probe.restart = RESTART_REWIND;
	params.probe.worker.output = OUTPUT_DISCARD;
	failure_copy(&run, keeping->run);
	result = minimise(&run, &params, &incomplete, err);
	if (result == 0)
		result = predict_keep_repeat(keeping, target, &run, &simpler, &is_shown, err);
	if (result == 0 && is_shown) {
		const struct finding longer = *finding;

		*finding = simpler;
		finding->switches_found = longer.switches;
		finding->preemptions_found = longer.preemptions;
		finding->incomplete = incomplete ? string_copy(incomplete) : NULL;
		simpler = longer;
	}
	finding_release(&simpler);
	failure_release(&run);
	return result == ERROR_INTERRUPTED ? 0 : result;
}

int predict_keep(const struct predict_keeping *keeping, char id[32], struct error *err)
{
	struct target target = {0};
	struct finding finding = {0};
	bool is_shown;
	int result = target_find(&target, keeping->predict->options->campaign.argv[0], err);

	id[0] = '\0';
	if (result == 0)
		result = predict_keep_repeat(
			keeping, &target, keeping->run, &finding, &is_shown, err);
	if (result == 0 && is_shown) {
		finding.switches_found = finding.switches;
		finding.preemptions_found = finding.preemptions;
		if (keeping->predict->options->campaign.without_minimising)
			finding.incomplete = string_copy("minimising was switched off");
		else
			result = predict_keep_minimise(keeping, &target, &finding, err);
	}
	if (result == 0 && is_shown) {
		predict_keep_complete_finding(keeping, &finding);
		result = predict_keep_store_it(keeping->predict, keeping->campaign, &finding, err);
		(void)snprintf(id, 32, "%s", finding.id); /* fits */
	}
	finding_release(&finding);
	target_release(&target);
	return result;
}
