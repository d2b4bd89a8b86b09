#include "commands/predict/predict_work.h"
#include "platform/platform.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyses/shown.h"
#include "base/array.h"
#include "cli/command.h"

/* Section of the program that holds its annotations; include/raddle.h. */
#define NOTES_SECTION "raddle_notes"

/* Candidates described even if the command is to end; each takes some milliseconds. */
#define DESCRIBED_LEAST 20

struct note_reading {
	struct atomic_rules *rules;
	struct error *err;
};

static int predict_work_read_note(void *argument, const char *text, const char *module)
{
	struct note_reading *reading = argument;
	char source[256];

	(void)snprintf(source, sizeof source, "the annotation \"%s\" in %s", text, module);
	return atomic_rules_add(reading->rules, text, source, reading->err);
}

static int predict_work_read_rules(struct predict_work *work, struct error *err)
{
	struct note_reading reading = {.rules = &work->rules, .err = err};
	int result = 0;

	if (work->setting.symbols)
		result = symbols_each_text(
			work->setting.symbols, NOTES_SECTION, predict_work_read_note, &reading);
	if (result == 0 && work->atomic_sets)
		result = atomic_rules_read(&work->rules, work->atomic_sets, err);
	if (result == 0 && work->setting.symbols)
		result = atomic_rules_check(&work->rules, work->setting.symbols, err);
	return result;
}

int predict_work_check_file(const char *atomic_sets, struct error *err)
{
	struct atomic_rules rules = {0};
	const int result = atomic_sets ? atomic_rules_read(&rules, atomic_sets, err) : 0;

	atomic_rules_release(&rules);
	return result;
}

static void predict_work_choose_analyses(struct predict_work *work)
{
	if (work->wants_deadlocks && work->method == METHOD_PREDICT)
		work->analyses[work->analysis_count++] = &analysis_lock_order;
	if (work->method == METHOD_RACE || work->wants_races)
		work->analyses[work->analysis_count++] = &analysis_races;
	if (!work->wants_atomicity || work->method == METHOD_RACE)
		return;
	if (work->method == METHOD_ATOMICITY)
		work->analyses[work->analysis_count++] = &analysis_lock_windows;
	else
		work->analyses[work->analysis_count++] = &analysis_atomicity;
}

static int predict_work_analyse_run(const struct analysis *analysis, void *state,
	struct predict *predict, uint32_t run, struct error *err)
{
	const struct analysis_run about = {.number = run, .memory = predict_memory(predict, run)};
	struct trace_reader *reader;
	size_t size;
	FREE_SCOPED char *bytes = predict_trace(predict, run, &size);
	int result;

	if (!bytes)
		return 0;
	result = trace_reader_open(&reader, bytes, size, "the trace of a run", err);
	if (result == 0) {
		result = analysis->add_run(state, reader, &about, err);
		trace_reader_close(reader);
	}
	return result;
}

int predict_work_begin(struct predict_work *work, struct predict *predict, struct error *err)
{
	int result;

	if (work->wants_atomicity || work->wants_races)
		work->setting.symbols = predict_symbols(predict);
	work->setting.rules = &work->rules;
	result = predict_work_read_rules(work, err);
	if (result < 0)
		return result;
	predict_work_choose_analyses(work);
	for (uint32_t i = 0; i < work->analysis_count; i++) {
		work->states[i] = work->analyses[i]->begin(&work->setting);
		/* The first run is always analysed, so that an interrupted command has a result. */
		for (uint32_t run = 0; run < predict_run_count(predict) && result == 0 &&
				       (run == 0 || !command_stop_reason());
			run++)
			result = predict_work_analyse_run(
				work->analyses[i], work->states[i], predict, run, err);
	}
	return result;
}

void predict_work_end(struct predict_work *work)
{
	for (uint32_t i = 0; i < work->analysis_count; i++)
		if (work->states[i])
			work->analyses[i]->end(work->states[i]);
	atomic_rules_release(&work->rules);
}

static void *predict_work_state_of(const struct predict_work *work, const struct analysis *analysis)
{
	for (uint32_t i = 0; i < work->analysis_count; i++)
		if (work->analyses[i] == analysis)
			return work->states[i];
	return NULL;
}

static struct prediction *predict_work_prediction_at(struct predict_result *result, uint32_t index)
{
	while (result->prediction_count <= index)
		ARRAY_APPEND(result->predictions, result->prediction_count,
			(struct prediction){.state = PREDICTION_UNTRIED});
	return &result->predictions[index];
}

static bool predict_work_judge_driven(void *context, const struct predict_trace *trace)
{
	const struct predict_judging *judging = context;
	const struct analysis_run run = {.number = 0, .memory = trace->memory};
	struct candidates shown = {0};
	bool is_shown = false;

	/* A trace that cannot be read shows nothing. */
	if (judging->candidate->kind == CANDIDATE_VIOLATION)
		(void)atomicity_shown(predict_work_state_of(judging->work, &analysis_atomicity),
			trace->reader, &run, judging->candidate->key, &shown, NULL);
	else if (judging->candidate->kind == CANDIDATE_RACE)
		(void)races_shown(trace->reader, judging->candidate, &is_shown, NULL);
	else
		(void)lock_windows_shown(
			trace->reader, &run, judging->candidate->key, &shown, NULL);
	is_shown |= shown.count > 0;
	candidates_release(&shown);
	return is_shown;
}

static enum prediction_state predict_work_state_after(
	const struct candidate *candidate, const struct predict_attempt *attempt)
{
	if (!attempt->is_confirmed && attempt->is_interrupted && !attempt->runs)
		return PREDICTION_UNTRIED;
	if (!attempt->is_confirmed)
		return PREDICTION_CANDIDATE;
	if (candidate->kind == CANDIDATE_LOCK_CYCLE)
		return PREDICTION_CONFIRMED;
	if (attempt->fails)
		return PREDICTION_CONFIRMED;
	/* A race is undefined behaviour even if no run fails; an order of accesses is not. */
	return candidate->kind == CANDIDATE_RACE ? PREDICTION_HARMLESS : PREDICTION_BENIGN;
}

static void *predict_work_judging_of(void *context, uint32_t index)
{
	struct predict_work *work = context;

	work->judging = (struct predict_judging){
		.work = work, .candidate = &work->result->candidates.items[index]};
	return &work->judging;
}

static void predict_work_on_attempt(
	void *context, uint32_t index, const struct predict_attempt *attempt)
{
	struct predict_work *work = context;
	struct predict_result *result = work->result;
	struct prediction *prediction = predict_work_prediction_at(result, index);

	prediction->attempt = *attempt;
	prediction->state = predict_work_state_after(&result->candidates.items[index], attempt);
	result->driving_ns += attempt->driven_ns;
	result->investigated_driving_ns += attempt->kept_ns;
	result->harmless_count += prediction->state == PREDICTION_HARMLESS;
	if (attempt->is_confirmed)
		memcpy(prediction->finding, attempt->finding, sizeof prediction->finding);
}

static void predict_work_on_wait(void *context, uint32_t index)
{
	struct predict_work *work = context;

	predict_report_driving(work->result, index);
}

static void predict_work_print_notes(const struct predict_work *work)
{
	STRBUF_SCOPED lines = STRBUF_EMPTY;

	for (uint32_t i = 0; i < work->analysis_count; i++)
		if (work->analyses[i]->add_notes)
			work->analyses[i]->add_notes(work->states[i], &lines);
	predict_report_notes(work->result, lines.text);
}

static int predict_work_drive_all(
	struct predict_work *work, struct predict *predict, struct error *err)
{
	const struct candidates *candidates = &work->result->candidates;
	const struct predict_drive drive = {.candidates = candidates->items,
		.count = candidates->count < work->candidates ? candidates->count
							      : (uint32_t)work->candidates,
		.workers = work->result->options->campaign.workers,
		.context = work,
		.judge = predict_work_judge_driven,
		.judging = predict_work_judging_of,
		.came = predict_work_on_attempt,
		.waits = predict_work_on_wait};

	return predict_drive(predict, &drive, err);
}

static int predict_work_drive(struct predict_work *work, struct predict *predict, struct error *err)
{
	struct predict_result *result = work->result;
	int status = 0;

	result->candidates.is_interrupted = result->options->campaign.is_interrupted;
	for (uint32_t i = 0; i < work->analysis_count; i++)
		work->analyses[i]->find(work->states[i], &result->candidates);
	candidates_mix(&result->candidates);
	for (uint32_t i = 0; i < result->candidates.count && status == 0; i++) {
		/* An interrupted command lists the candidates that it would drive first. */
		if (i >= DESCRIBED_LEAST && candidates_are_enough(&result->candidates))
			candidates_cut(&result->candidates, i);
		else
			status = predict_describe(predict, &result->candidates.items[i], err);
	}
	if (status == 0) {
		predict_report_recorded(result);
		predict_work_print_notes(work);
	}
	result->inferred_ns = platform_monotonic_ns();
	if (result->candidates.count)
		(void)predict_work_prediction_at(result, result->candidates.count - 1);
	if (status == 0)
		status = predict_work_drive_all(work, predict, err);
	return status;
}

static bool predict_work_judge_watched(void *context, const struct predict_trace *trace)
{
	const struct predict_work *work = context;
	struct predict_result *result = work->result;
	const struct analysis_run run = {.number = 0, .memory = trace->memory};
	const struct trace_run *about = trace_reader_run(trace->reader);
	struct candidates shown = {0};
	char **paths = array_new(about->thread_count + 1u, sizeof *paths);
	const struct candidate_words words = {.symbols = work->setting.symbols,
		.memory = trace->memory,
		.paths = paths,
		.path_count = about->thread_count};

	for (uint32_t i = 0; i < about->thread_count; i++)
		/* the paths are not modified */
		paths[i] = (char *)(uintptr_t)about->threads[i].path;
	(void)atomicity_shown(predict_work_state_of(work, &analysis_atomicity), trace->reader, &run,
		0, &shown, NULL);
	result->runs_showing += shown.count > 0;
	for (uint32_t i = 0; i < shown.count; i++) {
		const uint32_t index = candidates_find(&result->candidates, shown.items[i].key);
		struct prediction *prediction = predict_work_prediction_at(result, index);

		prediction->attempt.shown++;
		prediction->attempt.shown_failed += trace->has_failed;
		if (index < result->candidates.count)
			continue;
		candidate_describe_scenario(&shown.items[i], &words);
		candidates_add(&result->candidates, &shown.items[i]);
	}
	candidates_release(&shown);
	free(paths);
	return true;
}

static int predict_work_watch(struct predict_work *work, struct predict *predict, struct error *err)
{
	struct predict_result *result = work->result;
	int status;

	result->inferred_ns = platform_monotonic_ns();
	status = predict_watch(predict, result->options->attempts, predict_work_judge_watched, work,
		&result->watched, err);
	result->driving_ns =
		platform_monotonic_ns() - result->inferred_ns - result->investigated_driving_ns;

	for (uint32_t i = 0; i < result->candidates.count; i++) {
		struct prediction *prediction = &result->predictions[i];

		prediction->attempt.runs = result->watched.runs;
		prediction->attempt.is_confirmed = true;
		prediction->attempt.fails = prediction->attempt.shown_failed > 0;
		prediction->state =
			prediction->attempt.fails ? PREDICTION_CONFIRMED : PREDICTION_HARMLESS;
		if (prediction->attempt.fails)
			memcpy(prediction->finding, result->last_finding,
				sizeof prediction->finding);
	}
	return status;
}

int predict_work_do(struct predict_work *work, struct predict *predict, struct error *err)
{
	return work->method == METHOD_MONITOR ? predict_work_watch(work, predict, err)
					      : predict_work_drive(work, predict, err);
}

void predict_work_show_sets(const struct predict_work *work)
{
	const struct atomic_sets *sets =
		atomicity_sets(predict_work_state_of(work, &analysis_atomicity));

	predict_work_print_notes(work);
	for (uint32_t i = 0; i < atomic_sets_count(sets); i++) {
		const struct atomic_kind *kind = atomic_sets_kind(sets, i);

		(void)printf("%s%s\n  parts:", kind->name, kind->is_of_objects ? ", each" : "");
		for (uint32_t part = 0; part < kind->part_count; part++)
			(void)printf(" %s", kind->parts[part]);
		(void)printf("\n  units of work:");
		for (uint32_t unit = 0; unit < kind->unit_count; unit++)
			(void)printf(" %s", kind->units[unit]);
		(void)printf("%s\n", kind->unit_count ? "" : " none");
		if (kind->rule)
			(void)printf("  said by %s\n", kind->rule->source);
	}
	(void)fflush(stdout); /* main checks the stream */
}
