/* Entry point of libraddle-branches.so: opening, answers, judgement of runs. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bug.h"
#include "base/array.h"
#include "base/bitset.h"
#include "abi/instrument_abi.h"
#include "branches/solve/loops.h"
#include "branches/solve/sensitivity_internal.h"

/* The solvers give up at this limit. The whole analysis has to fit in 4 GB. */
#define SOLVERS_BYTES "2000000000"

static sensitivity_bug *report;

void bug_report(const char *condition, const char *file, int line)
{
	report(condition, file, line);
	abort();
}

static bool entry_close(struct sensitivity *analysis)
{
	if (!search_close(analysis))
		return false;
	parts_close(analysis);
	locations_release(&analysis->locations);
	if (analysis->has_path)
		walk_close(&analysis->path);
	free(analysis->observed);
	free(analysis->accesses);
	free(analysis->is_matched);
	code_book_close(&analysis->book);
	image_close(&analysis->image);
	strbuf_release(&analysis->variables);
	free(analysis->function);
	free(analysis->file);
	free(analysis->directory);
	free(analysis);
	return true;
}

static int entry_open(struct sensitivity **out, const struct run_record *record,
	const char *program, const struct sensitivity_options *options, struct error *err)
{
	struct sensitivity *analysis = array_new(1, sizeof *analysis);
	const uint64_t begin = thread_processor_ns();
	int status;

	analysis->options = *options;
	analysis->begin_ns = search_now_ns();
	analysis->time_ns = options->time_ns;
	strbuf_init(&analysis->variables);
	status = image_open(&analysis->image, record, program, err);
	if (status < 0) {
		free(analysis);
		return status;
	}
	code_book_open(&analysis->book, &analysis->image);
	analysis->book.is_interrupted = options->is_interrupted;
	analysis->is_matched = array_new(options->exclude_count + 1u, sizeof *analysis->is_matched);
	for (uint32_t i = 0; i < options->exclude_count; i++)
		analysis->is_matched[i] = code_book_exclude(&analysis->book, options->excludes[i]);
	analysis->figures.load_ns = thread_processor_ns() - begin;
	parts_open(analysis);
	if (code_book_is_interrupted(&analysis->book)) {
		(void)entry_close(analysis); /* workers do not run yet */
		return error_set(err, ERROR_INTERRUPTED, "interrupted while a run was analysed");
	}
	*out = analysis;
	return 0;
}

static bool entry_next(struct sensitivity *analysis, struct sensitive_candidate *out)
{
	const struct worker *worker = search_next(analysis);
	const struct walk_event *event;

	while (!worker && !analysis->search.is_buffered && parts_next(analysis))
		worker = search_next(analysis);
	if (!worker)
		return false;
	event = walk_event_of(&analysis->walk, worker->goal);
	*out = (struct sensitive_candidate){.number = worker->location,
		.kind = locations_kind(event),
		.thread = worker->goal.thread,
		.occurrence = event->occurrence,
		.was_taken = event->is_taken,
		.is_waiting =
			event->kind == EVENT_BRANCH && loop_is_waiting(event_instruction(event)),
		.segments = worker->solution.segments,
		.segment_count = worker->solution.count,
		.chosen = analysis->walk.chosen};
	locations_describe(analysis, event_instruction(event), &out->location);
	locations_name_variables(analysis, walk_event_term(&analysis->walk, event));
	out->variables = analysis->variables.text;
	return true;
}

static bool entry_is_same_run(const struct run_record *a, const struct run_record *b)
{
	if (a->module_count != b->module_count)
		return false;
	for (uint32_t i = 0; i < a->module_count; i++)
		if (a->modules[i].fingerprint != b->modules[i].fingerprint ||
			a->modules[i].records != b->modules[i].records)
			return false;
	return true;
}

/* Returns whether the events correspond. An access outside of its object has only an EVENT_ADDRESS,
 * with the bounds. */
static bool entry_corresponds(const struct walk_event *own, const struct walk_event *event)
{
	if (event_instruction(own) != event_instruction(event))
		return false;
	return event->kind == EVENT_INDEX
		       ? (own->kind == EVENT_INDEX || own->kind == EVENT_ADDRESS) && own->occurrence
		       : own->kind == event->kind;
}

/* Counts corresponding events: others may differ, as pointers may lead to unshared memory. */
static const struct walk_event *entry_find_own(const struct walked_thread *recorded,
	const struct walked_thread *thread, const struct walk_event *event)
{
	uint64_t left = 0;

	for (const struct walk_event *i = recorded->events; i < event; i++)
		left += entry_corresponds(i, event);
	for (uint64_t i = 0; i < thread->count; i++)
		if (entry_corresponds(&thread->events[i], event) && !left--)
			return &thread->events[i];
	return NULL;
}

/* Judges a null pointer: it counts if the thread took the same path and crashed at this access. */
static enum sensitivity_verdict entry_judge_pointer(const struct walk *walk, uint16_t number,
	struct event_id goal, const struct walk_event *own)
{
	const struct walked_thread *thread = &walk->threads[number];
	const struct run_record *record = walk->record;

	/* The record does not mark writes that fail: the walk continues behind such a write. */
	if (own && record->has_crashed && record->crashed_thread == number &&
		own->value == record->crash_address && own->value < NULL_PAGE)
		return VERDICT_FLIPPED;
	if (thread->summary.end != WALK_CRASHED)
		return VERDICT_SAME;
	/* The failing access is not reported: its address may be missing. */
	if (!own)
		return thread->count == goal.index ? VERDICT_FLIPPED : VERDICT_NOT_REACHED;
	return own->value < NULL_PAGE ? VERDICT_FLIPPED : VERDICT_NOT_REACHED;
}

static enum sensitivity_verdict entry_judge_event(
	struct sensitivity *analysis, const struct walk *crashed, uint16_t thread)
{
	const struct event_id goal = analysis->search.current->goal;
	const struct walk_event *event = walk_event_of(&analysis->walk, goal);
	enum sensitivity_verdict verdict = VERDICT_NOT_REACHED;
	const struct walk_event *own;
	struct walk walk;

	if (event->kind == EVENT_INDEX && crashed->threads[thread].summary.end == WALK_CRASHED)
		return VERDICT_FLIPPED;
	walk_open(&walk, &analysis->book, crashed->record);
	/* Lent by the analysis: events must be those of the record. */
	walk.shared = analysis->walk.shared;
	walk.has_open_addresses = analysis->walk.has_open_addresses;
	walk.objects = crashed->objects;
	walk_run(&walk, WALK_EVENTS);
	walk.shared = (struct shared_map){0};
	walk.objects = (struct object_table){0};
	own = entry_find_own(&analysis->walk.threads[goal.thread], &walk.threads[thread], event);
	if (event->kind == EVENT_ADDRESS)
		verdict = entry_judge_pointer(&walk, thread, goal, own);
	else if (own && event->kind == EVENT_TARGET)
		verdict = own->value == event->value ? VERDICT_SAME : VERDICT_FLIPPED;
	else if (own && event->kind == EVENT_DIVISOR)
		verdict = own->value ? VERDICT_SAME : VERDICT_FLIPPED;
	else if (own) /* the object may lie elsewhere than in the record */
		verdict = own->value - own->address < own->occurrence ? VERDICT_SAME
			  : own->occurrence			      ? VERDICT_FLIPPED
								      : VERDICT_NOT_REACHED;
	walk_close(&walk);
	return verdict;
}

static enum sensitivity_verdict entry_check(
	struct sensitivity *analysis, const struct run_record *run)
{
	const struct event_id goal = analysis->search.current->goal;
	const struct walk_event *event = walk_event_of(&analysis->walk, goal);
	struct walk_watch watch = {
		.instruction = event_instruction(event), .occurrence = event->occurrence};
	enum sensitivity_verdict verdict = VERDICT_NOT_REACHED;
	struct walk walk;

	analysis->flipped_position = UINT64_MAX;
	analysis->flipped_caller_count = 0;
	watch.thread = runs_thread_named(run, analysis->walk.record->threads[goal.thread].name);
	if (entry_is_same_run(analysis->walk.record, run) && watch.thread != UINT16_MAX) {
		walk_open(&walk, &analysis->book, run);
		walk.watches = &watch;
		walk.watch_count = 1;
		walk_run(&walk, WALK_COUNTING);
		if (watch.is_reached) {
			analysis->flipped_position = watch.position;
			analysis->flipped_caller_count = watch.caller_count;
			memcpy(analysis->flipped_callers, watch.callers, sizeof watch.callers);
		}
		if (event_is_check(event))
			verdict = entry_judge_event(analysis, &walk, watch.thread);
		else if (watch.is_reached)
			verdict =
				watch.outcome != event->case_value ? VERDICT_FLIPPED : VERDICT_SAME;
		walk_close(&walk);
	}
	return verdict;
}

static void entry_interleavings(struct sensitivity *analysis, const struct run_record *run,
	struct sensitive_interleaving *out)
{
	const uint16_t thread = analysis->search.current->goal.thread;

	interleavings_describe(analysis, run,
		runs_thread_named(run, analysis->walk.record->threads[thread].name), out);
}

static bool entry_observe(struct sensitivity *analysis, const struct run_record *run)
{
	return entry_is_same_run(analysis->walk.record, run) && paths_observe(analysis, run);
}

static bool entry_observed(
	struct sensitivity *analysis, uint32_t number, struct sensitive_observation *out)
{
	const struct observed *observed = &analysis->observed[number];

	if (number >= analysis->observed_count)
		return false;
	*out = (struct sensitive_observation){.kind = observed->kind,
		.is_modelled = observed->is_modelled,
		.count = observed->count};
	(void)pthread_mutex_lock(&analysis->search.lock); /* default mutex: cannot fail */
	for (uint32_t i = 0; i < analysis->locations.count; i++)
		out->is_proven |= analysis->locations.items[i].is_proven &&
				  locations_are_one(analysis->locations.items[i].instruction,
					  observed->instruction);
	(void)pthread_mutex_unlock(&analysis->search.lock);
	locations_describe(analysis, observed->instruction, &out->location);
	return true;
}

static void entry_take_run(struct sensitivity *analysis, const struct sensitive_run *run)
{
	if (entry_is_same_run(analysis->walk.record, run->record))
		runs_observe(analysis, run);
}

/* Cuts the list off at the end of the buffer. */
static void entry_list_unmatched(
	const struct sensitivity *analysis, struct sensitivity_figures *figures)
{
	STRBUF_SCOPED list = STRBUF_EMPTY;

	for (uint32_t i = 0; i < analysis->options.exclude_count; i++)
		if (!analysis->is_matched[i])
			strbuf_addf(&list, "%s%s", list.length ? ", " : "",
				analysis->options.excludes[i]);
	(void)snprintf(figures->unmatched, sizeof figures->unmatched, "%s", list.text);
}

static void entry_figures(struct sensitivity *analysis, struct sensitivity_figures *out)
{
	(void)pthread_mutex_lock(&analysis->search.lock); /* default mutex: cannot fail */
	*out = analysis->figures;
	(void)pthread_mutex_unlock(&analysis->search.lock);
	entry_list_unmatched(analysis, out);
}

static bool entry_site_writes(uint8_t kind)
{
	return kind == SITE_STORE || kind == SITE_RANGE_WRITE || kind == SITE_STRING_WRITE ||
	       (kind >= SITE_ATOMIC_STORE && kind <= SITE_COMPARE_EXCHANGE);
}

static const uint64_t *entry_begin_buffered(struct sensitivity *analysis)
{
	if (analysis->part_count > 1)
		return NULL;
	runs_begin_buffered(analysis);
	/* In runs with store buffers every store waits in a buffer, also one to memory of one thread: all
	 * sites that write are scheduling points. */
	for (uint32_t i = 0; i < analysis->image.site_count; i++)
		if (entry_site_writes(analysis->image.sites[i].kind))
			bitset_add(analysis->walk.chosen, i);
	return analysis->walk.chosen;
}

static const struct sensitivity_library library = {
	.open = entry_open,
	.begin_buffered = entry_begin_buffered,
	.next = entry_next,
	.check = entry_check,
	.interleavings = entry_interleavings,
	.settle = search_continue,
	.hurry = search_hurry,
	.figures = entry_figures,
	.plan_run = runs_plan,
	.take_run = entry_take_run,
	.accesses = paths_accesses,
	.observe = entry_observe,
	.observed = entry_observed,
	.close = entry_close,
};

__attribute__((visibility("default"))) sensitivity_entry raddle_sensitivity;

const struct sensitivity_library *raddle_sensitivity(sensitivity_bug *bug)
{
	report = bug;
	Z3_global_param_set("memory_high_watermark", SOLVERS_BYTES);
	return &library;
}
