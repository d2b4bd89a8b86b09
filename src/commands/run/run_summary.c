#include "commands/run/run_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/next_command.h"
#include "cli/terminal.h"
#include "commands/run/run_options.h"
#include "commands/run/run_verdict.h"
#include "model/feature.h"

/* Least duration suggested for repeating a campaign that found nothing. */
#define LONGER_MINUTES 10u
#define MINUTE_NS UINT64_C(60000000000)

/* Says why no run ended. raddle sees that threads wait in system calls, but not whether the kernel would
 * have ended the waits with more time. */
static const char waits_for_outside[] =
	"its threads waited for the kernel: for input, a socket, a signal, a timer or a process; give it more time (--time), or the input (--stdin FILE) or the peer that it waits for";

/* Prints pct's guarantee for the same n, k and depth, for comparison. */
static void run_summary_print_pct_guarantee(const struct strategy_guarantee *guarantee)
{
	double probability = 1.0 / guarantee->threads;

	for (uint32_t i = 1; i < guarantee->depth; i++)
		probability /= (double)guarantee->steps;
	(void)fprintf(stderr, "(pct would promise 1/(n*k^(d-1)) = %.3g)\n", probability);
}

static void run_summary_print_guarantee(const struct campaign_result *result)
{
	const struct strategy_guarantee *guarantee = &result->guarantee;

	if (guarantee->probability <= 0)
		return;
	(void)fprintf(stderr,
		"each schedule shows a bug of depth %u with probability at least %s%s = %.3g (n = %u threads, k = %llu steps",
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
		run_summary_print_pct_guarantee(guarantee);
}

static void run_summary_print_explored(const struct campaign_result *result)
{
	double seconds = (double)result->total.exploring_ns / 1e9;
	STRBUF_SCOPED time = STRBUF_EMPTY;
	char runs[32];
	char rate[32];
	char steps[32];

	run_report_add_time(&time, result->total.exploring_ns);
	(void)fprintf(stderr, "%s schedule%s in %s (%s/s), up to %u thread%s and %s step%s each\n",
		text_grouped(result->total.runs, runs), result->total.runs == 1 ? "" : "s",
		time.text,
		text_grouped(seconds > 0
				     ? (unsigned long long)((double)result->total.runs / seconds)
				     : 0,
			rate),
		result->threads_most, result->threads_most == 1 ? "" : "s",
		text_grouped(result->steps_most, steps), result->steps_most == 1 ? "" : "s");
}

static void run_summary_print_checkpoints(const struct campaign_result *result)
{
	char runs[32], checkpoints[32];

	if (result->runs_resumed)
		(void)fprintf(stderr, "%s of them continued from one of %s checkpoints\n",
			text_grouped(result->runs_resumed, runs),
			text_grouped(result->checkpoints, checkpoints));
	if (result->checkpoint_obstacle[0])
		(void)fprintf(stderr, "there are no checkpoints after the point where a run %s\n",
			result->checkpoint_obstacle);
}

/* Says what raddle does not see that may order the accesses of a race. */
static void run_summary_print_unseen_order(const struct campaign_result *result)
{
	if (result->has_own_locks)
		(void)fprintf(stderr,
			"  the program's own locks may order these accesses: raddle does not see them\n");
	else if (*result->opaque_libraries)
		(void)fprintf(stderr,
			"  atomic operations inside %s may order these accesses: raddle does not see them\n",
			result->opaque_libraries);
}

static void run_summary_print_races_seen(const struct campaign_result *result)
{
	if (!result->races_seen)
		return;
	(void)fprintf(stderr,
		"note: %u data race%s seen, which end%s a run only with --fail-on race:\n%s",
		result->races_seen, result->races_seen == 1 ? " was" : "s were",
		result->races_seen == 1 ? "s" : "", result->races_seen_text);
	run_summary_print_unseen_order(result);
}

static void run_summary_print_races(
	const struct run_report *report, const struct campaign_result *result)
{
	char times[32];

	if (!report->options->settings.races.are_failures) {
		run_summary_print_races_seen(result);
		return;
	}
	(void)fprintf(stderr, "%u race%s found", result->races, result->races == 1 ? "" : "s");
	if (result->races_suppressed)
		(void)fprintf(stderr, ", %u suppressed", result->races_suppressed);
	if (result->races_ignored)
		(void)fprintf(stderr, "; known ones were suppressed %s times",
			text_grouped(result->races_ignored, times));
	(void)fprintf(stderr, "\n");
	if (result->races)
		run_summary_print_unseen_order(result);
}

/* Reports why "nothing found" says little about the program; also printed if the user asked for
 * findings only. */
static void run_summary_print_shortcomings(const struct campaign_result *result)
{
	char runs[32];

	if (result->blind_runs)
		(void)fprintf(stderr,
			"note: in %s run%s the detector ran out of memory and searched for no more races\n",
			text_grouped(result->blind_runs, runs), result->blind_runs == 1 ? "" : "s");
	if (result->total.findings || !result->is_unfinished)
		return;
	if (result->waits_for_outside)
		(void)fprintf(stderr, "note: the last run did not end before the time was up: %s\n",
			waits_for_outside);
	else
		(void)fprintf(stderr,
			"note: the last run did not end before the time was up; give it more time (--time)\n");
}

/* Adds the options that would let this program's waits end differently, each behind `before`. */
static void run_summary_add_wait_options(const struct campaign_options *options,
	const struct campaign_result *result, const char *before, struct strbuf *out)
{
	if (result->features & FEATURE_CONDITION && !options->settings.has_spurious_wakeups)
		strbuf_addf(out, "%s--spurious-wakeups", before);
	if (result->features & FEATURE_TIME && options->settings.stall_ns == STALL_STANDARD_NS)
		strbuf_addf(out, "%s--stalls any", before);
	if (result->features & FEATURE_CHILD_THREADS && !result->has_forked_children &&
		!options->settings.has_forked_children)
		strbuf_addf(out, "%s--forked-children", before);
}

/* `is_hopeless`: the strategy can never make all schedules, with whatever time. */
static void run_summary_add_another(
	const struct run_report *report, bool is_hopeless, struct strbuf *out)
{
	static const char *const dropped[] = {
		"strategy", "time", "seed", "schedules", "resume", "mpi", "silence", NULL};
	const struct campaign_options *options = report->options;
	const uint64_t time_ns = options->time_ns;

	if (!time_ns)
		strbuf_adds(out, " --time 0");
	else if (time_ns <= LONGER_MINUTES * MINUTE_NS)
		strbuf_addf(out, " --time %um", LONGER_MINUTES);
	else
		strbuf_addf(out, " --time %" PRIu64 "m", (time_ns + MINUTE_NS - 1) / MINUTE_NS);
	strbuf_addf(out, " --seed %" PRIu64, options->seed + 1);
	next_add_given(out, report->given, report->program, run_options, dropped + !is_hopeless);
}

static void run_summary_print_nothing_found(
	const struct run_report *report, const struct campaign_result *result)
{
	const struct campaign_options *options = report->options;
	STRBUF_SCOPED command = STRBUF_EMPTY;

	if (report->is_unmodified)
		(void)fprintf(stderr,
			"memory accesses were no scheduling points; build the program with raddle-cc (CC=raddle-cc, CXX=raddle-c++) to explore them\n");
	else if (*result->opaque_libraries)
		(void)fprintf(stderr,
			"memory accesses inside %s were no scheduling points; build such libraries with raddle-cc, too, to explore them\n",
			result->opaque_libraries);
	if (result->features & FEATURE_WEAK_ORDER)
		(void)fprintf(stderr,
			"all runs were sequentially consistent, but the program's atomic operations have weaker orders: explore those by --memory-model c11\n");
	if (result->has_verdict && result->verdict.is_complete) {
		run_summary_add_wait_options(options, result, ", ", &command);
		(void)fprintf(stderr, "nothing found; next: another input%s%s%s\n",
			result->verdict.scope[0] ? ", a larger bound" : "",
			command.length ? ", or other ends of waits: " : "",
			command.length ? command.text + strlen(", ") : "");
		return;
	}
	run_summary_add_another(report, result->has_verdict && result->verdict.missing, &command);
	run_summary_add_wait_options(options, result, " ", &command);
	next_add_program(&command, report->program);
	(void)fprintf(stderr, "nothing found%s; next: raddle run%s\n",
		result->is_interrupted ? " so far" : "", command.text);
}

static int run_summary_print_without_threads(
	const struct run_report *report, const struct campaign_result *result)
{
	const struct outcome *outcome = &result->outcome;

	const char *remedy =
		"; if it starts the program with the threads, give raddle that program";
	const char *scope = "made no thread, so there is one schedule only";

	if (result->features & FEATURE_CHILD_THREADS) {
		scope = "made no thread itself";
		remedy = "; a child that it forks makes threads: --forked-children explores them";
	} else if (result->features & FEATURE_CHILD_PROGRAM) {
		remedy =
			"; a child executes a program, which ran natively: --follow-children explores it if it makes threads";
	} else if (result->features & FEATURE_CHILD) {
		scope = "made no thread, and raddle leaves the order of its processes to the kernel";
		remedy = "";
	} else if (report->repeatable) {
		remedy = "";
	}
	if (!result->total.findings)
		(void)fwrite(report->output.text, 1, report->output.length, stdout);
	(void)fprintf(stderr, "%s %s; it was run once: %s%s\n", report->options->argv[0], scope,
		campaign_is_skipped(report->options, result)
			? "skipped"
			: outcome_descriptions[outcome->kind].word,
		remedy);
	return result->total.findings ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;
}

/* Prints the command that explores the program under the memory model which permits the reported
 * access: such runs show what the access leads to. */
static void run_summary_print_weak(const struct run_report *report)
{
	static const char *const dropped[] = {"fail-on", "schedules", "resume", NULL};
	STRBUF_SCOPED command = STRBUF_EMPTY;

	strbuf_addf(&command, " --memory-model %s", memory_model_words[report->last_weak]);
	next_add_given(&command, report->given, report->program, run_options, dropped);
	next_add_program(&command, report->program);
	(void)fprintf(stderr, "next: raddle run%s\n", command.text);
}

static void run_summary_print_replay(const struct run_report *report)
{
	STRBUF_SCOPED store = STRBUF_EMPTY;

	next_add_store(&store, report->last_fallback ? report->last_fallback : report->store);
	(void)fprintf(
		stderr, "next: raddle replay %s%s --gdb, or --trace", report->last_id, store.text);
	if (!report->has_last_cause)
		(void)fprintf(stderr, "; for the cause: raddle explain %s%s", report->last_id,
			store.text);
	else if (report->is_last_delayed)
		(void)fprintf(stderr, "; for the memory orders that suffice: raddle explain %s%s",
			report->last_id, store.text);
	(void)fputs("\n", stderr);
}

/* Returns the reason why no run ended; NULL if a run ended, in this or another shard. */
static const char *run_summary_reason_for_no_run(
	const struct campaign_options *options, const struct campaign_result *result)
{
	if (result->total.runs || result->total.findings || result->has_verdict)
		return NULL;
	/* A forwarded signal goes to the program and may end its only run. */
	if (result->is_interrupted)
		return options->forwards_signals ? NULL : "the command was interrupted";
	if (result->waits_for_outside)
		return waits_for_outside;
	return "the time was up; give it more time (--time)";
}

int run_report_finish(struct run_report *report, const struct campaign_result *result)
{
	const char *reason = run_summary_reason_for_no_run(report->options, result);
	int status = result->total.findings ? EXIT_FAILURE_FOUND : EXIT_NOTHING_FOUND;

	terminal_clear_live();
	if (report->is_json)
		run_report_print_json(report, result);
	if (result->has_no_threads) {
		status = run_summary_print_without_threads(report, result);
	} else if (!result->has_started && !result->is_interrupted) {
		status = command_fail(
			result->features & FEATURE_CHILD_THREADS
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
		run_summary_print_shortcomings(result);
	} else {
		run_summary_print_explored(result);
		run_summary_print_checkpoints(result);
		run_summary_print_guarantee(result);
		run_verdict_print(report->options, result, report->is_unmodified);
		run_summary_print_races(report, result);
		run_summary_print_shortcomings(result);
		if (result->total.findings && report->last_weak)
			run_summary_print_weak(report);
		else if (result->total.findings)
			run_summary_print_replay(report);
		else
			run_summary_print_nothing_found(report, result);
	}
	if (campaign_is_skipped(report->options, result))
		status = (int)report->options->settings.skip_status;
	run_report_release(report);
	return status;
}
