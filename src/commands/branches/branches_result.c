/* Describes the branches that were found, and the solutions that no run showed. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "commands/branches/branches_internal.h"
#include "model/thread_name.h"

const char *const branch_class_words[BRANCH_CLASS_COUNT] = {
	[CLASS_BUG] = "bug",
	[CLASS_AD_HOC] = "ad hoc synchronisation",
	[CLASS_BENIGN] = "benign so far",
};

static void branches_result_add_thread_name(
	struct strbuf *out, const struct run_record *record, uint16_t thread)
{
	const struct run_thread *of = &record->threads[thread];

	if (!thread || of->parent >= record->thread_count || of->parent == thread) {
		strbuf_adds(out, "main");
		return;
	}
	branches_result_add_thread_name(out, record, of->parent);
	if (of->ordinal == THREAD_ORDINAL_DRAINER)
		strbuf_adds(out, "." THREAD_PATH_DRAINER);
	else
		strbuf_addf(out, ".%u", of->ordinal);
}

char *branches_thread_name(const struct run_record *record, uint16_t thread)
{
	struct strbuf name = STRBUF_EMPTY;

	branches_result_add_thread_name(&name, record, thread);
	return strbuf_detach(&name);
}

/* Limit on the printed segments of unproven schedules. */
#define UNPROVEN_SEGMENTS_MOST 400

static char *branches_result_schedule_text(
	const struct run_record *record, const struct sensitive_candidate *candidate, uint32_t most)
{
	struct strbuf text = STRBUF_EMPTY;

	for (uint32_t i = 0; i < candidate->segment_count && i < most; i++) {
		const struct schedule_segment *segment = &candidate->segments[i];

		if (i)
			strbuf_adds(&text, " ");
		if (segment->flags & SEGMENT_VALUE) {
			strbuf_addf(&text, "(%u of %u)", segment->thread + 1u, segment->count);
			continue;
		}
		branches_result_add_thread_name(&text, record, segment->thread);
		strbuf_addf(&text, ":%u", segment->count);
	}
	if (candidate->segment_count > most)
		strbuf_adds(&text, " ...");
	return strbuf_detach(&text);
}

char *branches_path_of(const struct sensitive_location *location)
{
	struct strbuf path = STRBUF_EMPTY;

	if (*location->file != '/' && *location->directory)
		strbuf_addf(&path, "%s/", location->directory);
	strbuf_adds(&path, location->file);
	return strbuf_detach(&path);
}

static struct sensitive_branch *branches_result_add_to(struct sensitive_branch **list,
	uint32_t *count, const struct run_record *record,
	const struct sensitive_candidate *candidate)
{
	struct sensitive_branch *branch;

	*list = array_room(*list, *count, sizeof **list);
	branch = &(*list)[(*count)++];
	*branch = (struct sensitive_branch){.kind = candidate->kind,
		.function = string_copy(candidate->location.function),
		.file = string_copy(candidate->location.file),
		.path = branches_path_of(&candidate->location),
		.line = candidate->location.line,
		.column = candidate->location.column,
		.thread = branches_thread_name(record, candidate->thread),
		.variables = string_copy(candidate->variables),
		.occurrence = candidate->occurrence,
		.was_taken = candidate->was_taken,
		.schedule = branches_result_schedule_text(record, candidate, UINT32_MAX),
		.class = candidate->is_waiting ? CLASS_AD_HOC : CLASS_BENIGN};
	return branch;
}

struct sensitive_branch *branches_add(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate)
{
	return branches_result_add_to(&result->items, &result->count, record, candidate);
}

bool branches_failed_early(const struct recorded *run, const struct sensitive_candidate *candidate)
{
	uint64_t steps = 0;

	for (uint32_t i = 0; i < candidate->segment_count; i++)
		if (!(candidate->segments[i].flags & SEGMENT_VALUE))
			steps += candidate->segments[i].count;
	return run->is_failure && !run->has_diverged && run->run.step_count <= steps;
}

static bool branches_result_has_failure(
	const struct sensitive_branch *items, uint32_t count, const struct outcome *outcome)
{
	for (uint32_t i = 0; i < count; i++)
		if (items[i].class == CLASS_BUG && items[i].failure == failure_key(outcome))
			return true;
	return false;
}

struct sensitive_branch *branches_add_early(struct branches_result *result,
	const struct run_record *record, const struct sensitive_candidate *candidate,
	const struct recorded *run)
{
	if (branches_result_has_failure(result->items, result->count, &run->run.outcome) ||
		branches_result_has_failure(result->early, result->early_count, &run->run.outcome))
		return NULL;
	return branches_result_add_to(&result->early, &result->early_count, record, candidate);
}

void branches_add_unproven(struct branches_result *result, const struct run_record *record,
	const struct sensitive_candidate *candidate, const struct recorded *run,
	enum sensitivity_verdict verdict)
{
	FREE_SCOPED char *schedule =
		branches_result_schedule_text(record, candidate, UNPROVEN_SEGMENTS_MOST);
	struct strbuf text = STRBUF_EMPTY;

	strbuf_addf(&text, "%s:%u: ", candidate->location.file, candidate->location.line);
	if (run->has_diverged)
		strbuf_addf(&text, "the run left the schedule at step %llu",
			(unsigned long long)run->diverged_step);
	else
		strbuf_adds(&text, verdict == VERDICT_SAME ? "the run took the same side"
							   : "the run did not reach the branch");
	strbuf_addf(&text, " (%s)", schedule);
	ARRAY_APPEND(result->unproven, result->unproven_count, strbuf_detach(&text));
}

static void branches_result_release_list(struct sensitive_branch *items, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		free(items[i].function);
		free(items[i].file);
		free(items[i].path);
		free(items[i].thread);
		free(items[i].variables);
		free(items[i].schedule);
		free(items[i].called_from);
		free(items[i].delayed);
		for (int run = 0; run < SENSITIVE_RUNS; run++)
			branches_release_interleaving(&items[i].interleavings[run]);
	}
	free(items);
}

void branches_result_release(struct branches_result *result)
{
	branches_result_release_list(result->items, result->count);
	branches_result_release_list(result->early, result->early_count);
	for (uint32_t i = 0; i < result->observed_count; i++) {
		free(result->observed[i].file);
		free(result->observed[i].path);
		free(result->observed[i].function);
	}
	free(result->observed);
	for (uint32_t i = 0; i < result->unproven_count; i++)
		free(result->unproven[i]);
	free(result->unproven);
	*result = (struct branches_result){0};
}
