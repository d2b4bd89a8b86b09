#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/files/base_name.h"
#include "base/bug.h"
#include "base/text.h"
#include "cli/command.h"
#include "commands/predict/predict_result.h"
#include "platform/platform.h"
#include "cli/next_command.h"
#include "commands/findings/show_finding.h"
#include "cli/terminal.h"
#include "cli/verdict.h"
#include "model/stall.h"

const char *const prediction_state_words[PREDICTION_STATES] = {
	[PREDICTION_CONFIRMED] = "confirmed, and it fails",
	[PREDICTION_HARMLESS] = "confirmed, no failure seen",
	[PREDICTION_BENIGN] = "benign",
	[PREDICTION_CANDIDATE] = "candidate",
	[PREDICTION_UNTRIED] = "not tried",
};

static void predict_report_on_started(void *context, const struct campaign_start *start)
{
	struct predict_result *result = context;

	/* The campaigns of driven runs report a start, too. */
	if (result->has_started)
		return;
	result->has_started = true;
	result->has_memory_sites = start->has_memory_sites;
	terminal_clear_live();
	verdict_say_model_without_sites(
		result->options->memory_model, MEMORY_MODEL_SC, start->has_memory_sites);
	if (result->is_quiet)
		return;
	(void)fprintf(
		stderr, "%s: recording %u passing runs\n", start->program, result->options->runs);
}

static void predict_report_on_progress(void *context, const struct campaign_progress *progress)
{
	const struct predict_result *result = context;

	if (!result->is_quiet)
		terminal_live("recording: %" PRIu64 " runs", progress->runs);
}

void predict_report_driving(const struct predict_result *result, uint32_t candidate)
{
	if (!result->is_quiet)
		terminal_live(
			"driving: candidate %u of %u", candidate + 1, result->candidates.count);
}

static void predict_report_on_confirming(void *context, const struct failure *failure)
{
	struct predict_result *result = context;

	result->investigating_since_ns = platform_monotonic_ns();
	if (!result->is_quiet)
		terminal_live("%s; replaying it", outcome_descriptions[failure->outcome.kind].word);
}

static void predict_report_on_minimising(void *context, const struct minimise_progress *progress)
{
	const struct predict_result *result = context;

	if (!result->is_quiet && progress->runs % 16 == 0)
		terminal_live("minimising: %" PRIu64 " runs, %u preemptions, %u switches",
			progress->runs, progress->preemptions, progress->switches);
}

/* Several campaigns may report the same finding or the same note. `text`: a finding's id, or a note. */
static bool predict_report_is_first_time(struct predict_result *result, const char *text)
{
	FREE_SCOPED char *line = NULL;
	char *reported;

	BUG_ON(asprintf(&line, "\n%s\n", text) < 0);
	if (result->reported && strstr(result->reported, line))
		return false;
	BUG_ON(asprintf(&reported, "%s%s", result->reported ? result->reported : "", line) < 0);
	free(result->reported);
	result->reported = reported;
	return true;
}

static void predict_report_on_warning(void *context, const char *text)
{
	if (!predict_report_is_first_time(context, text))
		return;
	terminal_clear_live();
	(void)fprintf(stderr, "note: %s\n", text);
}

static void predict_report_on_notice(void *context, const char *text)
{
	const struct predict_result *result = context;

	if (!result->is_quiet)
		predict_report_on_warning(context, text);
}

static void predict_report_note_investigated(struct predict_result *result)
{
	const uint64_t took = result->investigating_since_ns
				      ? platform_monotonic_ns() - result->investigating_since_ns
				      : 0;

	if (result->inferred_ns)
		result->investigated_driving_ns += took;
	else
		result->investigated_recording_ns += took;
	result->investigating_since_ns = 0;
}

static void predict_report_on_found(void *context, const struct campaign_found *found)
{
	struct predict_result *result = context;
	FREE_SCOPED char *json = NULL;

	predict_report_note_investigated(result);
	terminal_clear_live();
	if (!predict_report_is_first_time(result, found->finding->id))
		return;
	result->finding_count++;
	(void)snprintf(result->last_finding, sizeof result->last_finding, "%s", found->finding->id);
	(void)snprintf(result->last_fallback, sizeof result->last_fallback, "%s",
		found->fallback ? found->fallback : "");
	if (!result->is_json) {
		show_finding(found->finding,
			found->fallback ? found->fallback : result->options->campaign.directory,
			NULL, stdout);
		if (!found->is_new)
			(void)printf("This failure was already known as %s.\n", found->finding->id);
		(void)fflush(stdout); /* main checks the stream */
		return;
	}
	json = finding_to_published_json(found->finding);
	strbuf_addf(&result->findings, "%s%s", result->findings.length ? "," : "", json);
}

void predict_report_listen(struct predict_result *result, struct campaign_listener *listener)
{
	*listener = (struct campaign_listener){
		.context = result,
		.started = predict_report_on_started,
		.progress = predict_report_on_progress,
		.confirming = predict_report_on_confirming,
		.minimising = predict_report_on_minimising,
		.notice = predict_report_on_notice,
		.warning = predict_report_on_warning,
		.found = predict_report_on_found,
	};
}

/* Prints a text such as "1 cycle of locks, 12 violations to try". */
static void predict_report_say_candidates(const struct predict_result *result)
{
	static const char *const words[CANDIDATE_KINDS] = {
		[CANDIDATE_LOCK_CYCLE] = "cycle%s of locks",
		[CANDIDATE_RACE] = "possible race%s",
		[CANDIDATE_VIOLATION] = "possible violation%s of atomic sets",
		[CANDIDATE_LOCK_WINDOW] = "critical section%s that another thread may interrupt",
	};
	uint32_t counts[CANDIDATE_KINDS] = {0};
	const char *separator = "";

	for (uint32_t i = 0; i < result->candidates.count; i++)
		counts[result->candidates.items[i].kind]++;
	for (unsigned kind = 0; kind < CANDIDATE_KINDS; kind++) {
		const char *plural = strchr(words[kind], '%');

		if (!counts[kind])
			continue;
		(void)fprintf(stderr, "%s%u %.*s%s%s", separator, counts[kind],
			(int)(plural - words[kind]), words[kind], counts[kind] == 1 ? "" : "s",
			plural + 2);
		separator = ", ";
	}
	if (result->candidates.count)
		(void)fprintf(stderr, " to try\n");
	else
		(void)fprintf(stderr, "%s%s\n", result->nothing,
			command_stop_reason() ? " in the part that was analysed" : "");
}

void predict_report_recorded(const struct predict_result *result)
{
	const uint32_t runs = predict_run_count(result->predict);
	uint64_t steps_most = 0, dropped = 0;
	uint32_t threads_most = 0;
	char number[32];

	terminal_clear_live();
	for (uint32_t i = 0; i < runs; i++) {
		const struct predict_recorded run = predict_recorded(result->predict, i);

		steps_most = run.steps > steps_most ? run.steps : steps_most;
		threads_most = run.threads > threads_most ? run.threads : threads_most;
		dropped += run.events_dropped;
	}
	if (result->is_quiet || !runs)
		return;
	(void)fprintf(stderr,
		"%u passing run%s recorded, up to %u thread%s and %s step%s each: ", runs,
		runs == 1 ? "" : "s", threads_most, threads_most == 1 ? "" : "s",
		text_grouped(steps_most, number), steps_most == 1 ? "" : "s");
	predict_report_say_candidates(result);
	if (dropped)
		(void)fprintf(stderr,
			"note: these runs were too long, and their last %s steps were not recorded\n",
			text_grouped(dropped, number));
	if (result->candidates.is_cut)
		(void)fprintf(stderr,
			"note: there are too many possible failures to examine all; the shortest come first\n");
}

void predict_report_notes(const struct predict_result *result, const char *lines)
{
	if (result->is_quiet)
		return;
	terminal_clear_live();
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
		(void)fprintf(stderr, "note: %.*s\n", (int)(end - lines), lines);
}

static void predict_report_add_location(
	const struct candidate *candidate, uint32_t location, struct strbuf *out)
{
	const struct finding_wait *wait = &candidate->waits[location];
	const struct finding_frame *frame = finding_user_frame(&wait->at);

	strbuf_addf(out, "%s", wait->verb);
	if (wait->object)
		strbuf_addf(out, " %.*s", finding_short_name(wait->object), wait->object);
	if (frame && frame->file)
		strbuf_addf(out, " at %s:%u", base_name(frame->file), frame->line);
	else if (frame && frame->function)
		strbuf_addf(out, " in %s", frame->function);
}

static void predict_report_add_missing(const struct candidate *candidate,
	const struct predict_attempt *attempt, struct strbuf *out)
{
	uint32_t missing = 0;

	for (uint32_t i = 0; i < candidate->wait_count; i++) {
		if (attempt->arrivals[i])
			continue;
		strbuf_adds(out, missing++ ? ", nor where one "
					   : "no thread reached the location where it ");
		predict_report_add_location(candidate, i, out);
		if (candidate->kind == CANDIDATE_LOCK_CYCLE &&
			candidate->locations[i].taken.kind != OP_NONE)
			strbuf_adds(out, " holding the other lock");
	}
}

static bool predict_report_has_missing(
	const struct candidate *candidate, const struct predict_attempt *attempt)
{
	for (uint32_t i = 0; i < candidate->location_count; i++)
		if (!attempt->arrivals[i])
			return true;
	return false;
}

struct strbuf prediction_reason(
	const struct candidate *candidate, const struct prediction *prediction)
{
	const struct predict_attempt *attempt = &prediction->attempt;
	struct strbuf out = STRBUF_EMPTY;

	if (prediction->state == PREDICTION_CONFIRMED || prediction->state == PREDICTION_HARMLESS ||
		prediction->state == PREDICTION_BENIGN)
		return out;
	if (prediction->state == PREDICTION_UNTRIED)
		strbuf_adds(&out,
			"the time (--time) or the number of candidates (--candidates) was used up");
	else if (attempt->is_unsteady)
		strbuf_addf(&out, "happened once%s%s%s, but does not repeat",
			*attempt->finding ? " (" : "", attempt->finding,
			*attempt->finding ? ")" : "");
	else if (attempt->rendezvous && candidate->kind != CANDIDATE_LOCK_CYCLE)
		strbuf_addf(&out,
			"its accesses happened in this order in %" PRIu64 " of %" PRIu64
			" runs, but not within one call of its units of work",
			attempt->rendezvous, attempt->runs);
	else if (attempt->rendezvous)
		strbuf_addf(&out,
			"its threads were at their locations together in %" PRIu64 " of %" PRIu64
			" runs and continued: one of them does not block there for ever",
			attempt->rendezvous, attempt->runs);
	else if (predict_report_has_missing(candidate, attempt))
		predict_report_add_missing(candidate, attempt, &out);
	else if (candidate_is_scenario(candidate->kind))
		strbuf_addf(&out,
			"its accesses happened, but never in this order (threads released %" PRIu64
			" times)",
			attempt->thrashes);
	else
		strbuf_addf(&out,
			"its threads reached their locations, but never at the same time: while one waited there, no other thread was enabled (released %" PRIu64
			" times), so something other than a lock keeps them apart",
			attempt->thrashes);
	if (prediction->state == PREDICTION_CANDIDATE)
		strbuf_addf(&out, ", in %" PRIu64 " run%s", attempt->runs,
			attempt->runs == 1 ? "" : "s");
	if (attempt->other_findings)
		strbuf_addf(&out, "; other failures happened (%s)", attempt->finding);
	return out;
}

void predict_report_candidate(const struct predict_result *result, uint32_t index)
{
	const struct candidate *candidate = &result->candidates.items[index];
	const struct prediction *prediction = &result->predictions[index];
	STRBUF_SCOPED reason = STRBUF_EMPTY, text = STRBUF_EMPTY;

	terminal_clear_live();
	if (result->is_json)
		return;
	if (prediction->state == PREDICTION_CONFIRMED) {
		(void)printf("P%u  confirmed as %s\n\n", index + 1, prediction->finding);
		(void)fflush(stdout); /* main checks the stream */
		return;
	}
	(void)printf("P%-2u ", index + 1);
	show_candidate(candidate, stdout);
	reason = prediction_reason(candidate, prediction);
	strbuf_addf(
		&text, "\n  %s: %s\n\n", prediction_state_words[prediction->state], reason.text);
	terminal_put(stdout, text.text);
	(void)fflush(stdout); /* main checks the stream */
}

/* Returns the first attempt that showed its candidate; NULL: no finding shows a candidate. */
static const struct predict_attempt *predict_report_first_shown(const struct predict_result *result)
{
	const struct predict_attempt *shown = NULL;
	FREE_SCOPED uint32_t *order = predict_ranking(result);

	for (uint32_t i = 0; i < result->candidates.count && !shown; i++)
		if (*result->predictions[order[i]].attempt.shown_by)
			shown = &result->predictions[order[i]].attempt;
	return shown;
}

static void predict_report_add_amounts(struct strbuf *out, const struct campaign_options *campaign)
{
	if (campaign->time_ns != PREDICT_TIME_NS)
		next_add_time(out, "--time", campaign->time_ns);
	if (campaign->workers)
		strbuf_addf(out, " --jobs %" PRIu32, campaign->workers);
}

static void predict_report_say_next(const struct predict_result *result)
{
	const struct campaign_options *campaign = &result->options->campaign;
	const struct predict_attempt *shown = predict_report_first_shown(result);
	const char *fallback = *result->last_finding ? result->last_fallback
			       : shown		     ? shown->fallback
						     : NULL;
	struct settings settings = campaign->settings;
	STRBUF_SCOPED store = STRBUF_EMPTY, command = STRBUF_EMPTY;

	settings.memory_model = result->options->memory_model;
	settings.stall_ns = STALL_STANDARD_NS; /* predict makes no stalls, a campaign may */
	next_add_store(&store, fallback && *fallback ? fallback : campaign->directory);
	predict_report_add_amounts(&command, campaign);
	next_add_settings(&command, &settings);
	next_add_store(&command, campaign->directory);
	next_add_program(&command, campaign->argv);
	if (*result->last_fallback)
		(void)fprintf(stderr, "next: raddle replay %s%s --gdb\n", result->last_finding,
			store.text);
	else if (*result->last_finding)
		(void)fprintf(stderr,
			"next: raddle replay %s%s --gdb\n"
			"  or: raddle report C%" PRId64 "%s --html > report.html\n",
			result->last_finding, store.text, result->recording.campaign, store.text);
	else if (shown)
		(void)fprintf(
			stderr, "next: raddle replay %s%s --trace\n", shown->shown_by, store.text);
	else
		(void)fprintf(stderr, "next: raddle run --strategy rpro --seed %" PRIu64 "%s\n",
			campaign->seed + 1, command.text);
}

void predict_report_end(const struct predict_result *result)
{
	uint32_t counts[PREDICTION_STATES] = {0};

	terminal_clear_live();
	for (uint32_t i = 0; i < result->candidates.count; i++)
		counts[result->predictions[i].state]++;
	if (result->is_quiet)
		return;
	if (result->candidates.count)
		(void)fprintf(stderr, "%u confirmed%s, %u benign, %u not reached, %u not tried\n",
			counts[PREDICTION_CONFIRMED] + counts[PREDICTION_HARMLESS],
			memory_model_phrase(result->options->memory_model),
			counts[PREDICTION_BENIGN], counts[PREDICTION_CANDIDATE],
			counts[PREDICTION_UNTRIED]);
	if (command_stop_reason())
		(void)fprintf(stderr, "%s after %u of %u passing runs were recorded%s\n",
			command_stop_reason() == STOP_TIME ? "the time was up" : "interrupted",
			predict_run_count(result->predict), result->options->runs,
			command_stop_reason() == STOP_TIME ? "; give it more time (--time)" : "");
	predict_report_say_next(result);
}
