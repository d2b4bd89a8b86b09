#include "commands/run/run_report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "base/text.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "commands/findings/show_finding.h"
#include "cli/terminal.h"
#include "cli/verdict.h"

void run_report_init(struct run_report *report, const struct campaign_options *options,
	bool is_json, bool is_quiet)
{
	*report = (struct run_report){
		.options = options,
		.is_json = is_json,
		.is_quiet = is_quiet,
	};
	strbuf_init(&report->findings);
	strbuf_init(&report->output);
}

void run_report_release(struct run_report *report)
{
	terminal_clear_live();
	strbuf_release(&report->findings);
	strbuf_release(&report->output);
	free(report->last_fallback);
}

void run_report_add_time(struct strbuf *out, uint64_t ns)
{
	if (ns < 1000000000)
		strbuf_addf(out, "%llu ms", (unsigned long long)(ns / 1000000));
	else if (ns % 1000000000 == 0 || ns > UINT64_C(100000000000))
		strbuf_addf(out, "%llu s", (unsigned long long)(ns / 1000000000));
	else
		strbuf_addf(out, "%.1f s", (double)ns / 1e9);
}

static void run_report_add_budget(struct strbuf *out, const struct campaign_options *options)
{
	char number[32];

	if (options->schedules)
		strbuf_addf(out, "%s schedules", text_grouped(options->schedules, number));
	if (options->schedules && options->time_ns)
		strbuf_adds(out, " or ");
	if (options->time_ns)
		run_report_add_time(out, options->time_ns);
	if (!options->schedules && !options->time_ns)
		strbuf_adds(out, "until interrupted");
}

static void run_report_print_race_needs(
	const struct run_report *report, const struct campaign_start *start)
{
	const struct suppressions *suppressions = report->options->suppressions;

	if (!report->options->settings.races.are_failures)
		return;
	if (!start->has_memory_sites)
		(void)fprintf(stderr,
			"note: raddle sees no races in it; build it with raddle-cc for --fail-on race\n");
	if (suppressions && suppressions->without_effect && !report->is_quiet)
		(void)fprintf(stderr,
			"note: %u suppression%s not of races (mutex, thread, signal, deadlock) and without effect\n",
			suppressions->without_effect,
			suppressions->without_effect == 1 ? " is" : "s are");
}

static bool run_report_has_variable_bound(const struct campaign_options *options)
{
	for (const struct strategy_option *option = strategies[options->strategy]->options;
		option && option->name; option++)
		if (strcmp(option->name, "variables") == 0)
			return true;
	return false;
}

static void run_report_on_started(void *context, const struct campaign_start *start)
{
	struct run_report *report = context;
	STRBUF_SCOPED budget = STRBUF_EMPTY;
	char strategy[256];
	char number[32];

	report->is_unmodified = !start->has_memory_sites;
	terminal_clear_live();
	run_report_print_race_needs(report, start);
	verdict_say_model_without_sites(report->options->settings.memory_model,
		report->options->settings.races.weak, start->has_memory_sites);
	if (report->is_quiet)
		return;
	strategy_format(report->options->strategy, &report->options->strategy_config, strategy,
		sizeof strategy);
	run_report_add_budget(&budget, report->options);
	if (start->resumed_runs)
		strbuf_addf(&budget, ", of which %s schedules have been made",
			text_grouped(start->resumed_runs, number));
	if (report->options->shards)
		strbuf_addf(
			&budget, ", shard %u/%u", report->options->shard, report->options->shards);
	if (start->chosen_variables)
		(void)fprintf(stderr,
			"%s is built by raddle-cc: scheduling points are its synchronisation "
			"operations and accesses to shared memory at the %u locations that may touch "
			"%u chosen variable%s\n",
			start->program, start->chosen_sites, start->chosen_variables,
			start->chosen_variables == 1 ? "" : "s");
	else if (start->has_memory_sites)
		(void)fprintf(stderr,
			"%s is built %s: scheduling points are its synchronisation operations and accesses to shared memory\n",
			start->program,
			start->has_tsan_calls ? "with -fsanitize=thread" : "by raddle-cc");
	else
		(void)fprintf(stderr,
			"%s is an unmodified binary: scheduling points are its synchronisation operations%s\n",
			start->program,
			run_report_has_variable_bound(report->options)
				? ", so variables are locks and the like; memory is among them in a program built by raddle-cc"
				: "");
	(void)fprintf(stderr, "strategy %s, seed %llu, restart %s, budget %s\n", strategy,
		(unsigned long long)report->options->seed,
		restart_descriptions[start->restart].word, budget.text);
}

static void run_report_on_progress(void *context, const struct campaign_progress *progress)
{
	const struct run_report *report = context;
	const struct campaign_options *options = report->options;
	double seconds = (double)progress->exploring_ns / 1e9;
	STRBUF_SCOPED left = STRBUF_EMPTY;
	char runs[32];
	char rate[32];

	if (report->is_quiet || seconds <= 0)
		return;
	if (options->time_ns > progress->elapsed_ns)
		strbuf_addf(&left, ", %llu s left",
			(unsigned long long)((options->time_ns - progress->elapsed_ns + 999999999) /
					     1000000000));
	terminal_live("%s schedules, %s/s, %u found%s", text_grouped(progress->runs, runs),
		text_grouped((unsigned long long)((double)progress->runs / seconds), rate),
		progress->findings, left.text);
}

static void run_report_on_confirming(void *context, const struct failure *failure)
{
	const struct run_report *report = context;

	if (!report->is_quiet)
		terminal_live("schedule %llu: %s; replaying it",
			(unsigned long long)(failure->run_number % FINDING_SHARD_RUNS) + 1,
			outcome_descriptions[failure->outcome.kind].word);
}

static void run_report_on_minimising(void *context, const struct minimise_progress *progress)
{
	const struct run_report *report = context;

	/* Every 16th run suffices for the terminal. */
	if (!report->is_quiet && progress->runs % 16 == 0)
		terminal_live("minimising: %llu runs, %u preemptions, %u switches",
			(unsigned long long)progress->runs, progress->preemptions,
			progress->switches);
}

static void run_report_on_warning(void *context, const char *text)
{
	(void)context;
	terminal_clear_live();
	(void)fprintf(stderr, "note: %s\n", text);
}

static void run_report_on_notice(void *context, const char *text)
{
	const struct run_report *report = context;

	if (!report->is_quiet)
		run_report_on_warning(context, text);
}

static void run_report_on_found(void *context, const struct campaign_found *found)
{
	struct run_report *report = context;

	terminal_clear_live();
	report->repeatable += confirmation_is_repeatable(&found->confirmation);
	(void)snprintf(report->last_id, sizeof report->last_id, "%s",
		*found->finding->shown_by ? found->finding->shown_by : found->finding->id);
	free(report->last_fallback);
	report->last_fallback = string_copy(found->fallback);
	report->is_last_delayed = found->finding->needs_weak_memory || *found->finding->shown_by;
	/* There is no cause to search for among orders of the threads if every order fails. */
	report->has_last_cause = found->finding->remedy || found->finding->other_schedules_failed;
	report->last_weak = found->finding->kind == OUTCOME_WEAK && !*found->finding->shown_by
				    ? (enum memory_model)found->finding->code
				    : MEMORY_MODEL_SC;
	if (report->is_json) {
		FREE_SCOPED char *json = finding_to_published_json(found->finding);

		strbuf_addf(&report->findings, "%s%s", report->findings.length ? "," : "", json);
		return;
	}
	show_finding(
		found->finding, found->fallback ? found->fallback : report->store, NULL, stdout);
	if (!found->is_new)
		(void)printf("This failure was already known as %s.\n", found->finding->id);
	(void)fflush(stdout); /* main checks the stream */
}

void run_report_listen(struct run_report *report, struct campaign_listener *listener)
{
	*listener = (struct campaign_listener){
		.context = report,
		.started = run_report_on_started,
		.progress = run_report_on_progress,
		.confirming = run_report_on_confirming,
		.minimising = run_report_on_minimising,
		.notice = run_report_on_notice,
		.warning = run_report_on_warning,
		.found = run_report_on_found,
	};
}
