#include "commands/run/run_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "commands/run/run_options.h"
#include "commands/findings/show_finding.h"
#include "cli/terminal.h"
#include "commands/run/run_verdict.h"
#include "model/op.h"

/* Least duration suggested for repeating a campaign that found nothing. */
#define LONGER_MINUTES 10u
#define MINUTE_NS UINT64_C(60000000000)

void run_report_init(struct run_report *report, const struct campaign_options *options,
	bool is_json, bool is_quiet)
{
	*report = (struct run_report){
		.options = options,
		.is_json = is_json,
		.is_quiet = is_quiet,
	};
	strbuf_init(&report->findings);
}

void run_report_release(struct run_report *report)
{
	terminal_clear_live();
	strbuf_release(&report->findings);
	free(report->last_fallback);
}

/* Appends a time such as "60 s", "500 ms", "2.5 s". */
static void run_report_add_time(struct strbuf *out, uint64_t ns)
{
	if (ns < 1000000000)
		strbuf_addf(out, "%llu ms", (unsigned long long)(ns / 1000000));
	else if (ns % 1000000000 == 0 || ns > UINT64_C(100000000000))
		strbuf_addf(out, "%llu s", (unsigned long long)(ns / 1000000000));
	else
		strbuf_addf(out, "%.1f s", (double)ns / 1e9);
}

static void add_budget(struct strbuf *out, const struct campaign_options *options)
{
	char number[32];

	if (options->schedules)
		strbuf_addf(out, "%s schedules", terminal_number(options->schedules, number));
	if (options->schedules && options->time_ns)
		strbuf_adds(out, " or ");
	if (options->time_ns)
		run_report_add_time(out, options->time_ns);
	if (!options->schedules && !options->time_ns)
		strbuf_adds(out, "until interrupted");
}

static void say_what_races_need(const struct run_report *report, const struct campaign_start *start)
{
	const struct suppressions *suppressions = report->options->suppressions;

	if (!report->options->settings.races.are_failures)
		return;
	if (!start->has_memory_sites)
		(void)fprintf(stderr,
			"note: raddle sees no races in it; build it with raddle-cc for --fail-on race\n");
	if (suppressions && suppressions->without_effect && !report->is_quiet)
		(void)fprintf(stderr,
			"note: %u suppression%s not of races (mutex, thread, signal, deadlock) and "
			"without effect\n",
			suppressions->without_effect,
			suppressions->without_effect == 1 ? " is" : "s are");
}

static void run_report_say_memory_model(
	const struct run_report *report, const struct campaign_start *start)
{
	const enum memory_model model = report->options->settings.memory_model;

	if (model && !start->has_memory_sites)
		(void)fprintf(stderr,
			"note: --memory-model %s has no effect, because raddle sees no stores of the program; build it with raddle-cc\n",
			memory_model_words[model]);
}

static bool has_variable_bound(const struct campaign_options *options)
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
	struct strbuf budget;
	char strategy[256];
	char number[32];

	report->is_unmodified = !start->has_memory_sites;
	terminal_clear_live();
	say_what_races_need(report, start);
	run_report_say_memory_model(report, start);
	if (report->is_quiet)
		return;
	strategy_format(report->options->strategy, &report->options->strategy_config, strategy,
		sizeof strategy);
	strbuf_init(&budget);
	add_budget(&budget, report->options);
	if (start->resumed_runs)
		strbuf_addf(&budget, ", of which %s schedules have been made",
			terminal_number(start->resumed_runs, number));
	if (report->options->shards)
		strbuf_addf(
			&budget, ", shard %u/%u", report->options->shard, report->options->shards);
	if (start->chosen_variables)
		(void)fprintf(stderr,
			"%s is built by raddle-cc: scheduling points are its synchronisation "
			"operations and accesses to shared memory at the %u places that may touch "
			"%u chosen variable%s\n",
			start->program, start->chosen_sites, start->chosen_variables,
			start->chosen_variables == 1 ? "" : "s");
	else if (start->has_memory_sites)
		(void)fprintf(stderr,
			"%s is built %s: scheduling points are its synchronisation operations and "
			"accesses to shared memory\n",
			start->program,
			start->has_tsan_calls ? "with -fsanitize=thread" : "by raddle-cc");
	else
		(void)fprintf(stderr,
			"%s is an unmodified binary: scheduling points are its "
			"synchronisation operations%s\n",
			start->program,
			has_variable_bound(report->options)
				? ", so variables are locks and the like; memory is among them in a "
				  "program built by raddle-cc"
				: "");
	(void)fprintf(stderr, "strategy %s, seed %llu, restart %s, budget %s\n", strategy,
		(unsigned long long)report->options->seed,
		restart_descriptions[start->restart].word, budget.text);
	strbuf_release(&budget);
}

static void run_report_on_progress(void *context, const struct campaign_progress *progress)
{
	const struct run_report *report = context;
	const struct campaign_options *options = report->options;
	double seconds = (double)progress->exploring_ns / 1e9;
	struct strbuf left;
	char runs[32];
	char rate[32];

	if (report->is_quiet || seconds <= 0)
		return;
	strbuf_init(&left);
	if (options->time_ns > progress->elapsed_ns)
		strbuf_addf(&left, ", %llu s left",
			(unsigned long long)((options->time_ns - progress->elapsed_ns + 999999999) /
					     1000000000));
	terminal_live("%s schedules, %s/s, %u found%s", terminal_number(progress->runs, runs),
		terminal_number((unsigned long long)((double)progress->runs / seconds), rate),
		progress->findings, left.text);
	strbuf_release(&left);
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
	(void)snprintf(report->last_id, sizeof report->last_id, "%s", found->finding->id);
	free(report->last_fallback);
	report->last_fallback = string_copy(found->fallback);
	report->has_last_cause = found->finding->remedy;
	if (report->is_json) {
		char *json = finding_to_published_json(found->finding);

		strbuf_addf(&report->findings, "%s%s", report->findings.length ? "," : "", json);
		free(json);
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

/* Prints pct's guarantee for the same n, k and depth, for comparison. */
static void say_guarantee_without_radius(const struct strategy_guarantee *guarantee)
{
	double probability = 1.0 / guarantee->threads;

	for (uint32_t i = 1; i < guarantee->depth; i++)
		probability /= (double)guarantee->steps;
	(void)fprintf(stderr, "(pct would promise 1/(n*k^(d-1)) = %.3g)\n", probability);
}

static void say_guarantee(const struct campaign_result *result)
{
	const struct strategy_guarantee *guarantee = &result->guarantee;

	if (guarantee->probability <= 0)
		return;
	(void)fprintf(stderr,
		"each schedule shows a bug of depth %u with probability at least %s%s = %.3g (n = %u "
		"threads, k = %llu steps",
		guarantee->depth, guarantee->stall_factor, guarantee->formula,
		guarantee->probability, guarantee->threads, (unsigned long long)guarantee->steps);
	if (guarantee->radius)
		(void)fprintf(stderr, ", r = %llu", (unsigned long long)guarantee->radius);
	if (guarantee->variables)
		(void)fprintf(stderr, ", v = %u of m = %u variables", guarantee->variables,
			guarantee->variable_total);
	if (guarantee->order_threads)
		(void)fprintf(stderr, ", t = %u in one order", guarantee->order_threads);
	if (guarantee->share > 0 && guarantee->share < 1)
		(void)fprintf(
			stderr, "; one schedule in %.0f is of this kind", 1 / guarantee->share);
	(void)fprintf(stderr, ")\n");
	if (guarantee->radius)
		say_guarantee_without_radius(guarantee);
}

static void say_explored(const struct campaign_result *result)
{
	double seconds = (double)result->total.exploring_ns / 1e9;
	struct strbuf time;
	char runs[32];
	char rate[32];
	char steps[32];

	strbuf_init(&time);
	run_report_add_time(&time, result->total.exploring_ns);
	(void)fprintf(stderr, "%s schedule%s in %s (%s/s), up to %u threads and %s steps each\n",
		terminal_number(result->total.runs, runs), result->total.runs == 1 ? "" : "s",
		time.text,
		terminal_number(seconds > 0
					? (unsigned long long)((double)result->total.runs / seconds)
					: 0,
			rate),
		result->threads_most, terminal_number(result->steps_most, steps));
	strbuf_release(&time);
}

static void say_checkpoints(const struct campaign_result *result)
{
	char runs[32], checkpoints[32];

	if (result->runs_resumed)
		(void)fprintf(stderr, "%s of them continued from one of %s checkpoints\n",
			terminal_number(result->runs_resumed, runs),
			terminal_number(result->checkpoints, checkpoints));
	if (result->checkpoint_obstacle[0])
		(void)fprintf(stderr, "there are no checkpoints after the point where a run %s\n",
			result->checkpoint_obstacle);
}

static void say_races_seen(const struct campaign_result *result)
{
	if (!result->races_seen)
		return;
	(void)fprintf(stderr,
		"note: %u data race%s seen, which end%s a run only with --fail-on race:\n%s",
		result->races_seen, result->races_seen == 1 ? " was" : "s were",
		result->races_seen == 1 ? "s" : "", result->races_seen_text);
}

static void say_races(const struct run_report *report, const struct campaign_result *result)
{
	char times[32];

	if (!report->options->settings.races.are_failures) {
		say_races_seen(result);
		return;
	}
	(void)fprintf(stderr, "%u race%s found", result->races, result->races == 1 ? "" : "s");
	if (result->races_suppressed)
		(void)fprintf(stderr, ", %u suppressed", result->races_suppressed);
	if (result->races_ignored)
		(void)fprintf(stderr, "; known ones were suppressed %s times",
			terminal_number(result->races_ignored, times));
	(void)fprintf(stderr, "\n");
}

/* Reports why "nothing found" says little about the program; also printed if the user asked for
 * findings only. */
static void say_shortcomings(const struct campaign_result *result)
{
	char runs[32];

	if (result->blind_runs)
		(void)fprintf(stderr,
			"note: in %s runs the detector ran out of memory and searched for no more races\n",
			terminal_number(result->blind_runs, runs));
	if (result->total.findings || !result->is_unfinished)
		return;
	if (result->waits_for_outside)
		(void)fprintf(stderr,
			"note: the last run did not end, because it waits for something outside the program; give it input (--stdin FILE), or let it end\n");
	else
		(void)fprintf(stderr,
			"note: the last run did not end before the time was up; give it more time (--time)\n");
}

/* Adds the options that would let this program's waits end differently, each behind `before`. */
static void add_wait_options(const struct campaign_options *options,
	const struct campaign_result *result, const char *before, struct strbuf *out)
{
	if (result->met & MET_CONDITION && !options->settings.has_spurious_wakeups)
		strbuf_addf(out, "%s--spurious-wakeups", before);
	if (result->met & MET_TIME && options->settings.stall_ns == STALL_STANDARD_NS)
		strbuf_addf(out, "%s--stalls any", before);
	if (result->met & MET_CHILD_THREADS && !result->has_forked_children &&
		!options->settings.has_forked_children)
		strbuf_addf(out, "%s--forked-children", before);
}

static void add_another(const struct run_report *report, struct strbuf *out)
{
	static const int dropped[] = {OPTION_TIME, OPTION_SEED, OPTION_SCHEDULES, OPTION_RESUME,
		OPTION_MPI, OPTION_SILENCE, 0};
	const struct campaign_options *options = report->options;
	const uint64_t time_ns = options->time_ns;

	if (!time_ns)
		strbuf_adds(out, " --time 0");
	else if (time_ns <= LONGER_MINUTES * MINUTE_NS)
		strbuf_addf(out, " --time %um", LONGER_MINUTES);
	else
		strbuf_addf(out, " --time %" PRIu64 "m", (time_ns + MINUTE_NS - 1) / MINUTE_NS);
	strbuf_addf(out, " --seed %" PRIu64, options->seed + 1);
	next_add_given(out, report->given, report->program, run_options, dropped);
}

static void say_nothing_found(const struct run_report *report, const struct campaign_result *result)
{
	const struct campaign_options *options = report->options;
	struct strbuf command;

	if (report->is_unmodified)
		(void)fprintf(stderr,
			"memory accesses were no scheduling points; build the program with raddle-cc (CC=raddle-cc, CXX=raddle-c++) to explore them\n");
	if (result->has_verdict && result->verdict.is_complete) {
		strbuf_init(&command);
		add_wait_options(options, result, ", ", &command);
		(void)fprintf(stderr, "nothing found; next: another input%s%s%s\n",
			result->verdict.scope[0] ? ", a larger bound" : "",
			command.length ? ", or other ends of waits: " : "",
			command.length ? command.text + strlen(", ") : "");
		strbuf_release(&command);
		return;
	}
	strbuf_init(&command);
	add_another(report, &command);
	add_wait_options(options, result, " ", &command);
	next_add_program(&command, report->program);
	(void)fprintf(stderr, "nothing found%s; next: raddle run%s\n",
		result->is_interrupted ? " so far" : "", command.text);
	strbuf_release(&command);
}

static int finish_without_threads(
	const struct run_report *report, const struct campaign_result *result)
{
	const struct outcome *outcome = &result->outcome;

	const char *remedy =
		"; if it starts the program with the threads, give raddle that program";
	const char *scope = "made no thread, so there is one schedule only";

	if (result->met & MET_CHILD_THREADS) {
		scope = "made no thread itself";
		remedy = "; a child that it forks makes threads: --forked-children explores them";
	} else if (report->repeatable) {
		remedy = "";
	}
	(void)fprintf(stderr, "%s %s; it was run once: %s%s\n", report->options->argv[0], scope,
		outcome_descriptions[outcome->kind].word, remedy);
	return result->total.findings ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;
}

static void say_replay(const struct run_report *report)
{
	struct strbuf store;

	strbuf_init(&store);
	next_add_store(&store, report->last_fallback ? report->last_fallback : report->store);
	(void)fprintf(
		stderr, "next: raddle replay %s%s --gdb, or --trace", report->last_id, store.text);
	if (!report->has_last_cause)
		(void)fprintf(stderr, "; for the cause: raddle explain %s%s", report->last_id,
			store.text);
	(void)fputs("\n", stderr);
	strbuf_release(&store);
}

/* Returns the reason why no run ended; NULL if a run ended, in this or another shard. */
static const char *reason_for_no_run(
	const struct campaign_options *options, const struct campaign_result *result)
{
	if (result->total.runs || result->total.findings || result->has_verdict)
		return NULL;
	/* A forwarded signal goes to the program and may end its only run. */
	if (result->is_interrupted)
		return options->forwards_signals ? NULL : "the command was interrupted";
	if (result->waits_for_outside)
		return "it waits for something outside the program; give it input (--stdin FILE), or let it end";
	return "the time was up; give it more time (--time)";
}

int run_report_finish(struct run_report *report, const struct campaign_result *result)
{
	const char *reason = reason_for_no_run(report->options, result);
	int status = result->total.findings ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;

	terminal_clear_live();
	if (report->is_json)
		run_report_print_json(report, result);
	if (result->has_no_threads) {
		status = finish_without_threads(report, result);
	} else if (!result->has_started && !result->is_interrupted) {
		status = command_fail(
			result->met & MET_CHILD_THREADS
				? "%s made no thread itself before the time was up, so nothing was explored; a child that it forked makes threads: explore them by --forked-children"
				: "%s made no thread before the time was up, so nothing was explored; give it more time (--time), or its input (--stdin FILE)",
			report->options->argv[0]);
	} else if (result->verdict.refusal[0] && !result->total.findings &&
		   !result->is_interrupted) {
		status = command_fail("%s", result->verdict.refusal);
	} else if (reason) {
		status = command_fail("no run of %s ended, so nothing was explored: %s",
			report->options->argv[0], reason);
	} else if (report->is_quiet) {
		say_shortcomings(result);
	} else {
		say_explored(result);
		say_checkpoints(result);
		say_guarantee(result);
		run_verdict_print(report->options, result);
		say_races(report, result);
		say_shortcomings(result);
		if (result->total.findings)
			say_replay(report);
		else
			say_nothing_found(report, result);
	}
	run_report_release(report);
	return status;
}
