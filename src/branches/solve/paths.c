/*
 * Finds where each further run first leaves the recorded path: the search should find that branch,
 * too.
 */

#include "base/bitset.h"
#include "base/array.h"
#include "abi/instrument_abi.h"
#include "branches/solve/sensitivity_internal.h"

/* The location where a run leaves the recorded path. */
struct departure {
	uint64_t position; /* UINT64_MAX: the run follows the record to the end */
	uint16_t thread;
	uint64_t index; /* index of the event in the thread's path */
};

/* Returns whether both events are the same. Another address is no departure: it may depend on the
 * schedule. */
static bool paths_is_same_point(const struct walk_event *a, const struct walk_event *b)
{
	if (a->kind != b->kind)
		return false;
	if (event_is_branch(a))
		return event_instruction(a) == event_instruction(b);
	return a->site == b->site;
}

/* Returns whether the path departs. A flipped choice (select) is no departure: control flow is the
 * same. */
static bool paths_diverge_at(const struct walk_event *a, const struct walk_event *b)
{
	return !paths_is_same_point(a, b) ||
	       (a->kind == EVENT_BRANCH && a->case_value != b->case_value);
}

static bool paths_is_modelled(
	const struct sensitivity *analysis, uint16_t thread, const struct walk_event *branch)
{
	const struct walked_thread *walked = &analysis->walk.threads[thread];

	for (uint64_t i = 0; i < walked->count; i++)
		if (event_instruction(&walked->events[i]) == event_instruction(branch) &&
			event_is_branch(&walked->events[i]) &&
			walked->events[i].occurrence == branch->occurrence)
			return true;
	return false;
}

static void paths_note_flip(
	struct sensitivity *analysis, uint16_t thread, const struct walk_event *branch)
{
	const bool has_term = paths_is_modelled(analysis, thread, branch);
	struct observed *item = NULL;

	for (uint32_t i = 0; i < analysis->observed_count && !item; i++)
		if (analysis->observed[i].is_modelled == has_term &&
			locations_are_one(
				analysis->observed[i].instruction, event_instruction(branch)))
			item = &analysis->observed[i];
	if (!item) {
		item = ARRAY_NEXT(analysis->observed, analysis->observed_count);
		*item = (struct observed){.instruction = event_instruction(branch),
			.kind = locations_kind(branch),
			.is_modelled = has_term};
	}
	item->count++;
}

static uint64_t paths_common_length(const struct walked_thread *a, const struct walked_thread *b)
{
	return a->count < b->count ? a->count : b->count;
}

static struct departure paths_find_divergence(const struct walk *record, const struct walk *run)
{
	struct departure result = {.position = UINT64_MAX};

	for (uint16_t thread = 0; thread < record->record->thread_count; thread++) {
		const uint16_t other =
			runs_thread_named(run->record, record->record->threads[thread].name);
		const struct walked_thread *a = &record->threads[thread], *b;

		if (other == UINT16_MAX)
			continue;
		b = &run->threads[other];
		for (uint64_t i = 0; i < paths_common_length(a, b); i++) {
			if (!paths_diverge_at(&a->events[i], &b->events[i]))
				continue;
			if (b->events[i].position < result.position)
				result = (struct departure){b->events[i].position, thread, i};
			break;
		}
	}
	return result;
}

/* Notes the flipped choices up to the departure, and the branch there. */
static void paths_note_thread(struct sensitivity *analysis, const struct walk *run, uint16_t thread,
	const struct departure *departure)
{
	const struct walk *record = &analysis->path;
	const uint16_t other = runs_thread_named(run->record, record->record->threads[thread].name);
	const struct walked_thread *a = &record->threads[thread];

	for (uint64_t i = 0;
		other != UINT16_MAX && i < paths_common_length(a, &run->threads[other]); i++) {
		const struct walk_event *event = &run->threads[other].events[i];
		const bool is_last = departure->position != UINT64_MAX &&
				     thread == departure->thread && i == departure->index;

		if (event->position > departure->position ||
			(paths_diverge_at(&a->events[i], event) && !is_last))
			return;
		if (paths_is_same_point(&a->events[i], event) && event_is_branch(event) &&
			a->events[i].case_value != event->case_value)
			paths_note_flip(analysis, thread, &a->events[i]);
		if (is_last)
			return;
	}
}

const uint64_t *paths_accesses(struct sensitivity *analysis)
{
	const struct image *image = &analysis->image;

	if (analysis->accesses)
		return analysis->accesses;
	analysis->accesses = array_new(BITSET_WORDS(image->site_count) + 1, sizeof(uint64_t));
	for (uint32_t i = 0; i < image->site_count; i++)
		if (image->sites[i].kind <= SITE_COMPARE_EXCHANGE)
			bitset_add(analysis->accesses, i);
	return analysis->accesses;
}

bool paths_observe(struct sensitivity *analysis, const struct run_record *run)
{
	struct departure departure;
	struct walk walk;
	bool result = true;

	if (!analysis->has_path) {
		walk_open(&analysis->path, &analysis->book, analysis->walk.record);
		walk_run(&analysis->path, WALK_PATHS);
		analysis->has_path = true;
	}
	walk_open(&walk, &analysis->book, run);
	walk_run(&walk, WALK_PATHS);
	for (uint32_t i = 0; i < run->thread_count; i++)
		result &= !walk_is_unfinished(&walk.threads[i]);
	departure = paths_find_divergence(&analysis->path, &walk);
	for (uint16_t i = 0; result && i < analysis->path.record->thread_count; i++)
		paths_note_thread(analysis, &walk, i, &departure);
	walk_close(&walk);
	return result;
}
