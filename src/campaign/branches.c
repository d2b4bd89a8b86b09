#include "campaign/branches.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "campaign/record_run.h"
#include "campaign/target.h"

const char *const branch_class_words[BRANCH_CLASS_COUNT] = {
	[CLASS_BUG] = "bug",
	[CLASS_AD_HOC] = "ad hoc synchronisation",
	[CLASS_BENIGN] = "benign so far",
};

static char *copy_text(const char *text)
{
	char *copy = strdup(text);

	BUG_ON(!copy);
	return copy;
}

static void add_thread_name(struct strbuf *out, const struct run_record *record, uint16_t thread)
{
	const struct run_thread *of = &record->threads[thread];

	if (!thread || of->parent >= record->thread_count || of->parent == thread) {
		strbuf_adds(out, "main");
		return;
	}
	add_thread_name(out, record, of->parent);
	strbuf_addf(out, ".%u", of->ordinal);
}

static char *schedule_text(
	const struct run_record *record, const struct sensitive_candidate *candidate)
{
	struct strbuf text;

	strbuf_init(&text);
	for (uint32_t i = 0; i < candidate->segment_count; i++) {
		if (i)
			strbuf_adds(&text, " ");
		add_thread_name(&text, record, candidate->segments[i].thread);
		strbuf_addf(&text, ":%u", candidate->segments[i].count);
	}
	return strbuf_detach(&text);
}

static char *path_of(const struct sensitive_place *place)
{
	struct strbuf path;

	strbuf_init(&path);
	if (*place->file != '/' && *place->directory)
		strbuf_addf(&path, "%s/", place->directory);
	strbuf_adds(&path, place->file);
	return strbuf_detach(&path);
}

static struct sensitive_branch *add_branch(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate,
	const struct recorded *run)
{
	struct sensitive_branch *branch;
	struct strbuf thread;

	result->items = realloc(result->items, (result->count + 1) * sizeof *result->items);
	BUG_ON(!result->items);
	branch = &result->items[result->count++];
	strbuf_init(&thread);
	add_thread_name(&thread, record, candidate->thread);
	*branch = (struct sensitive_branch){.kind = candidate->kind,
		.function = copy_text(candidate->place.function),
		.file = copy_text(candidate->place.file),
		.path = path_of(&candidate->place),
		.line = candidate->place.line,
		.column = candidate->place.column,
		.thread = strbuf_detach(&thread),
		.variables = copy_text(candidate->variables),
		.occurrence = candidate->occurrence,
		.was_taken = candidate->was_taken,
		.schedule = schedule_text(record, candidate),
		.class = run->is_failure	 ? CLASS_BUG
			 : candidate->is_waiting ? CLASS_AD_HOC
						 : CLASS_BENIGN,
		.outcome = run->run.outcome};
	return branch;
}

/* What comes of it: runs that go on at random, until one fails. */
static int go_on(const struct branches_options *options, struct record_request request,
	struct sensitive_branch *branch, struct error *err)
{
	int status = 0;

	while (status == 0 && branch->class != CLASS_BUG &&
		branch->continuations < options->continuations &&
		!*options->campaign.is_interrupted) {
		struct recorded run;

		request.random_seed = ++branch->continuations;
		status = record_run(&request, &run, err);
		if (status == 0 && run.is_failure) {
			branch->class = CLASS_BUG;
			branch->outcome = run.run.outcome;
			branch->failing_seed = request.random_seed;
		}
		recorded_release(&run);
	}
	return status;
}

static void add_unproven(struct branches_result *result, const struct run_record *record,
	const struct sensitive_candidate *candidate, const struct recorded *run,
	enum sensitivity_verdict verdict)
{
	char *schedule = schedule_text(record, candidate);
	struct strbuf text;

	strbuf_init(&text);
	strbuf_addf(&text, "%s:%u: ", candidate->place.file, candidate->place.line);
	if (run->has_diverged)
		strbuf_addf(&text, "the run left the schedule at step %llu",
			(unsigned long long)run->diverged_step);
	else
		strbuf_adds(&text, verdict == VERDICT_SAME ? "the run took the same side"
							   : "the run did not come there");
	strbuf_addf(&text, " (%s)", schedule);
	free(schedule);
	result->unproven =
		realloc(result->unproven, (result->unproven_count + 1) * sizeof *result->unproven);
	BUG_ON(!result->unproven);
	result->unproven[result->unproven_count++] = strbuf_detach(&text);
}

/* Makes the run that the solver promises. */
static int prove(const struct branches_options *options, const struct run_record *record,
	struct sensitivity *analysis, const struct sensitive_candidate *candidate,
	struct branches_result *out, struct error *err)
{
	thread_name *names = calloc(record->thread_count + 1u, sizeof *names);
	struct recorded run = {0};
	struct record_request request = {.options = &options->campaign,
		.like = record,
		.chosen = candidate->chosen,
		.segments = candidate->segments,
		.segment_count = candidate->segment_count,
		.names = names,
		.name_count = record->thread_count,
		.bytes_most = options->record_bytes};
	int status;

	BUG_ON(!names);
	for (uint32_t i = 0; i < record->thread_count; i++)
		names[i] = record->threads[i].name;
	status = record_run(&request, &run, err);
	if (status == 0) {
		const enum sensitivity_verdict verdict = sensitivity_judge(analysis, &run.record);

		if (verdict == VERDICT_FLIPPED)
			status = go_on(
				options, request, add_branch(out, record, candidate, &run), err);
		else
			add_unproven(out, record, candidate, &run, verdict);
	}
	recorded_release(&run);
	free(names);
	return status;
}

static int analyse(const struct branches_options *options, const struct recorded *first,
	const char *program, struct branches_result *out, struct error *err)
{
	struct sensitivity *analysis;
	struct sensitive_candidate candidate;
	uint64_t answers = 0;
	int status =
		sensitivity_open(&analysis, &first->record, program, &options->sensitivity, err);

	if (options->progress)
		options->progress(answers, out->count);
	while (status == 0 && !*options->campaign.is_interrupted &&
		sensitivity_next(analysis, &candidate)) {
		status = prove(options, &first->record, analysis, &candidate, out, err);
		answers++;
		if (options->progress)
			options->progress(answers, out->count);
	}
	if (analysis)
		sensitivity_figures(analysis, &out->figures);
	sensitivity_close(analysis);
	out->is_interrupted = *options->campaign.is_interrupted;
	return status;
}

static int check(const struct recorded *first, const char *program, struct error *err)
{
	if (!first->has_sites)
		return error_set(err, ERROR_TARGET,
			"%s was not built by raddle-cc, so its branches are not seen; build it with "
			"raddle-cc",
			program);
	if (!first->is_live)
		return error_set(err, ERROR_TARGET,
			"%s made no thread, so no branch depends on the schedule; if it starts the "
			"threaded program, give raddle that one",
			program);
	return 0;
}

int branches_search(
	const struct branches_options *options, struct branches_result *out, struct error *err)
{
	const char *program = options->campaign.argv[0];
	const struct record_request request = {
		.options = &options->campaign, .bytes_most = options->record_bytes};
	struct recorded first = {0};
	struct target target = {0};
	int status = target_find(&target, program, err);

	*out = (struct branches_result){0};
	if (status < 0)
		return status;
	status = record_run(&request, &first, err);
	if (status == 0)
		status = check(&first, program, err);
	if (status == 0) {
		out->record_bytes = first.record.bytes;
		out->run_ns = first.run_ns;
		out->is_partial = first.record.is_partial;
		status = analyse(options, &first, target.path, out, err);
	}
	recorded_release(&first);
	target_release(&target);
	return status;
}

void branches_result_release(struct branches_result *result)
{
	for (uint32_t i = 0; i < result->count; i++) {
		free(result->items[i].function);
		free(result->items[i].file);
		free(result->items[i].path);
		free(result->items[i].thread);
		free(result->items[i].variables);
		free(result->items[i].schedule);
	}
	for (uint32_t i = 0; i < result->unproven_count; i++)
		free(result->unproven[i]);
	free(result->unproven);
	free(result->items);
	*result = (struct branches_result){0};
}
