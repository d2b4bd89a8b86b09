/*
 * Answers that runs show. Before the solver is asked, the command makes two kinds of runs. The
 * first kind are random runs, of the strategies `pos` and `random`. Runs of the second kind hold
 * one thread before the first or last event of an instruction, until no other thread is enabled. If
 * the thread has locks there, which stop the others, another run holds it before the first of these
 * locks.
 *
 * Each run is walked, and the branches of each thread are compared with those of the record. The
 * first branch with another outcome is an answer; its schedule is that of the run up to the branch.
 * Later branches of that thread have no known correspondence to the record. Waiting loops are an
 * exception: the comparison continues behind them, with any number of iterations. Answers are
 * preferred whose branch is the first one of the whole run with another outcome.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bitset.h"
#include "base/array.h"
#include "base/search.h"
#include "branches/solve/loops.h"
#include "branches/solve/sensitivity_internal.h"

/* Budget: a run costs about as much as this many events, plus each event of the record. */
#define RUN_EVENTS 4000
#define INSTRUCTIONS_OF_EVENT 100
#define EVENTS_MOST UINT64_C(16000000)
#define RUNS_LEAST 4
#define RUNS_MOST 100

static struct flip *runs_flip_of(const struct sensitivity *analysis, uint32_t location)
{
	for (uint32_t i = 0; i < analysis->search.flip_count; i++)
		if (analysis->search.flips[i].location == location)
			return &analysis->search.flips[i];
	return NULL;
}

static bool runs_is_open(const struct sensitivity *analysis, uint32_t location)
{
	const struct asked *asked = &analysis->locations.items[location];
	const struct flip *flip = runs_flip_of(analysis, location);

	return !asked->is_proven && !asked->is_excluded && !(flip && flip->is_first);
}

static uint32_t runs_wanted(const struct sensitivity *analysis)
{
	const uint64_t events = analysis->order.event_count;
	const uint64_t cost =
		RUN_EVENTS + events + analysis->figures.instructions / INSTRUCTIONS_OF_EVENT;
	const uint64_t count = EVENTS_MOST / cost;

	if (analysis->options.is_global || events <= SEARCH_OPEN_AT_ONCE_MOST ||
		analysis->part_count > 1)
		return 0;
	return count < RUNS_LEAST ? RUNS_LEAST : count < RUNS_MOST ? (uint32_t)count : RUNS_MOST;
}

struct held_event {
	LLVMValueRef instruction;
	uint64_t rank; /* number in the order of the run */
};

static int runs_compare_events(const void *left, const void *right)
{
	const struct held_event *a = left, *b = right;

	if (a->instruction != b->instruction)
		return (uintptr_t)a->instruction < (uintptr_t)b->instruction ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

#define HOLD_PRIORITY (UINT64_C(1) << 40)

/* Returns the last event up to this one at which the thread has no lock. */
static uint64_t runs_before_locks(const struct order *order, uint64_t rank)
{
	const uint16_t thread = order->events[rank].thread;
	uint32_t index = order->events[rank].index;

	for (;;) {
		const uint32_t item = order_sections_from(&order->by_thread, thread, index);
		const struct order_section *section =
			item < order->by_thread.first[thread + 1]
				? &order->sections[order->by_thread.items[item]]
				: NULL;

		if (!section || section->begin >= index)
			break;
		index = section->begin;
	}
	while (order->events[rank].thread != thread || order->events[rank].index != index)
		rank--;
	return rank;
}

static void runs_add_hold(struct sensitivity *analysis, uint64_t class, uint64_t rank)
{
	struct search *search = &analysis->search;

	search->holds[search->hold_count++] =
		class * HOLD_PRIORITY + analysis->order.event_count - rank;
}

static void runs_add_holds(struct sensitivity *analysis, uint64_t rank)
{
	const struct walk_event *event =
		walk_event_of(&analysis->walk, analysis->order.events[rank]);
	const uint64_t class = event->kind == EVENT_READ ? 0 : event->kind == EVENT_WRITE ? 1 : 2;
	const uint64_t before = runs_before_locks(&analysis->order, rank);

	runs_add_hold(analysis, 2 * class, before);
	if (before != rank)
		runs_add_hold(analysis, 2 * class + 1, rank);
}

/* Sorts the events to hold, and lists each once. */
static void runs_sort_holds(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	const uint64_t events = analysis->order.event_count;
	FREE_SCOPED uint64_t *is_listed = array_new(BITSET_WORDS(events) + 1, sizeof *is_listed);
	const uint32_t count = search->hold_count;

	qsort(search->holds, count, sizeof *search->holds, compare_numbers);
	search->hold_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const uint64_t rank = events - search->holds[i] % HOLD_PRIORITY;

		if (!bitset_has(is_listed, (uint32_t)rank))
			search->holds[search->hold_count++] = rank;
		bitset_add(is_listed, (uint32_t)rank);
	}
}

/*
 * Sorts the events to hold: late events first. Reads precede writes, because writes of other
 * threads change the values that a held thread reads. Among equals, events without locks precede.
 */
static void runs_list_holds(struct sensitivity *analysis)
{
	const struct order *order = &analysis->order;
	struct search *search = &analysis->search;
	FREE_SCOPED struct held_event *events = array_new(order->event_count + 1, sizeof *events);
	uint64_t count = 0;

	search->holds = array_new(4 * order->event_count + 1, sizeof *search->holds);
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct walk_event *event = walk_event_of(&analysis->walk, order->events[i]);

		if (event->kind <= EVENT_OP && event->kind != EVENT_STEPS)
			events[count++] = (struct held_event){event_instruction(event), i};
	}
	qsort(events, count, sizeof *events, runs_compare_events);
	for (uint64_t i = 0; i < count; i++) {
		const bool is_first = !i || events[i - 1].instruction != events[i].instruction;
		const bool is_last =
			i + 1 == count || events[i + 1].instruction != events[i].instruction;

		if (is_first || is_last)
			runs_add_holds(analysis, events[i].rank);
	}
	runs_sort_holds(analysis);
}

/* Plans a run in the recorded order, except that the thread of event number `rank` stops before the
 * event. */
static void runs_hold(struct sensitivity *analysis, uint64_t rank)
{
	const struct order *order = &analysis->order;
	const uint16_t held = order->events[rank].thread;
	FREE_SCOPED uint64_t *done = array_new(order->thread_count + 1u, sizeof *done);
	struct solution *schedule = &analysis->search.observer.solution;

	solution_release(schedule);
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		const struct walk_event *event = walk_event_of(&analysis->walk, id);

		if (event->kind > EVENT_OP || event->step < done[id.thread] ||
			(i >= rank && id.thread == held))
			continue;
		solution_add(schedule, id.thread, event->step + 1 - done[id.thread]);
		done[id.thread] = event->step + 1;
	}
}

bool runs_plan(struct sensitivity *analysis, struct sensitive_trial *out)
{
	struct search *search = &analysis->search;
	const struct solution *schedule = &search->observer.solution;
	const uint32_t number = (uint32_t)analysis->figures.trials;
	const uint32_t hold = number - (number + 2) / 4; /* every fourth run is random */
	bool is_any_open = false;

	for (uint32_t i = 0; i < analysis->locations.count && !is_any_open; i++)
		is_any_open = runs_is_open(analysis, i);
	if (number >= runs_wanted(analysis) || !is_any_open)
		return false;
	if (!number)
		runs_list_holds(analysis);
	*out = (struct sensitive_trial){.chosen = analysis->walk.chosen};
	if (number % 4 != 1 && hold < search->hold_count) {
		runs_hold(analysis, search->holds[hold]);
		out->segments = schedule->segments;
		out->segment_count = schedule->count;
	} else {
		out->seed = number + 1;
		out->is_sampled = number % 8 != 1;
	}
	analysis->figures.trials++;
	return true;
}

/* Copies the schedule up to the thread's step, with thread numbers of the record. Returns false if
 * not known so far. */
static bool runs_copy_schedule(const struct sensitivity *analysis, const struct sensitive_run *run,
	struct event_id goal, uint64_t steps, struct solution *out)
{
	const struct run_record *record = analysis->walk.record;

	for (uint32_t i = 0; i < run->segment_count && steps; i++) {
		struct schedule_segment segment = run->segments[i];

		if (!(segment.flags & SEGMENT_VALUE)) {
			segment.thread = runs_thread_named(
				record, run->record->threads[segment.thread].name);
			if (segment.thread == goal.thread && segment.count > steps)
				segment.count = (uint32_t)steps;
			if (segment.thread == goal.thread)
				steps -= segment.count;
		}
		solution_append(out, segment);
	}
	return !steps;
}

struct runs_differences {
	uint64_t first; /* position in the run of its first branch with another outcome */
	struct flip *flips;
	uint32_t count;
};

struct runs_comparison {
	const struct sensitivity *analysis;
	struct runs_differences *differences;
	uint16_t thread; /* index in the record */
	const struct walked_thread *recorded, *own;
	uint64_t at, own_at; /* indices of the next events */
};

/* Returns NULL if none is left. */
static const struct walk_event *runs_next_branch(const struct walked_thread *thread, uint64_t *at)
{
	for (; *at < thread->count; ++*at)
		if (event_is_branch(&thread->events[*at]))
			return &thread->events[(*at)++];
	return NULL;
}

/* Moves past the loop's last iteration; `event` is the loop's branch before `at`. */
static bool runs_leave_loop(const struct walked_thread *thread, uint64_t *at,
	const struct walk_event *event, int leaves)
{
	const LLVMValueRef branch = event_instruction(event);

	while (event &&
		(event_instruction(event) != branch || event->case_value != (uint32_t)leaves))
		event = runs_next_branch(thread, at);
	return event != NULL;
}

/* Keeps one flip of each location, if possible one that is the first difference of its run. */
static void runs_add_flip(
	struct sensitivity *analysis, const struct sensitive_run *run, struct flip flip)
{
	struct search *search = &analysis->search;
	struct flip *earlier = runs_flip_of(analysis, flip.location);

	if (!runs_is_open(analysis, flip.location) || (earlier && !flip.is_first))
		return;
	/* A buffered store is no step, so steps with store buffers are others than the record's. */
	if (!search->is_buffered &&
		!runs_copy_schedule(analysis, run, flip.goal, flip.steps, &flip.solution)) {
		solution_release(&flip.solution);
		return;
	}
	if (earlier) {
		solution_release(&earlier->solution);
		*earlier = flip;
		return;
	}
	ARRAY_APPEND(search->flips, search->flip_count, flip);
}

static void runs_note(struct runs_comparison *comparison, const struct walk_event *event,
	const struct walk_event *own)
{
	struct runs_differences *differences = comparison->differences;
	struct flip flip = {
		.goal = {comparison->thread, (uint32_t)(event - comparison->recorded->events)},
		.steps = own->step,
		.position = own->position};

	if (event->kind == EVENT_BRANCH && own->position < differences->first)
		differences->first = own->position;
	if (event->occurrence != own->occurrence ||
		!search_is_wanted(comparison->analysis, PASS_ANY, event, &flip.location))
		return;
	ARRAY_APPEND(differences->flips, differences->count, flip);
}

static void runs_compare_thread(struct runs_comparison *comparison)
{
	for (;;) {
		const struct walk_event *event =
			runs_next_branch(comparison->recorded, &comparison->at);
		const struct walk_event *own =
			runs_next_branch(comparison->own, &comparison->own_at);
		int leaves;

		if (!event || !own || event_instruction(event) != event_instruction(own))
			return;
		if (event->case_value == own->case_value)
			continue;
		runs_note(comparison, event, own);
		if (event->kind == EVENT_CHOICE)
			continue;
		leaves = loop_spin_leaves(event_instruction(event));
		if (leaves < 0 ||
			!runs_leave_loop(comparison->recorded, &comparison->at, event, leaves) ||
			!runs_leave_loop(comparison->own, &comparison->own_at, own, leaves))
			return;
	}
}

uint16_t runs_thread_named(const struct run_record *run, thread_name name)
{
	for (uint32_t i = 0; i < run->thread_count; i++)
		if (run->threads[i].name == name)
			return (uint16_t)i;
	return UINT16_MAX;
}

static void runs_compare(
	struct sensitivity *analysis, const struct walk *walk, const struct sensitive_run *run)
{
	const struct run_record *record = analysis->walk.record;
	struct runs_differences differences = {.first = UINT64_MAX};

	for (uint16_t thread = 0; thread < record->thread_count; thread++) {
		const uint16_t own = runs_thread_named(run->record, record->threads[thread].name);

		if (own != UINT16_MAX)
			runs_compare_thread(&(struct runs_comparison){.analysis = analysis,
				.differences = &differences,
				.thread = thread,
				.recorded = &analysis->walk.threads[thread],
				.own = &walk->threads[own]});
	}
	for (uint32_t i = 0; i < differences.count; i++) {
		differences.flips[i].is_first = differences.flips[i].position <= differences.first;
		runs_add_flip(analysis, run, differences.flips[i]);
	}
	free(differences.flips);
}

void runs_observe(struct sensitivity *analysis, const struct sensitive_run *run)
{
	struct walk walk;

	walk_open(&walk, &analysis->book, run->record);
	walk.shared = analysis->walk.shared; /* lent: events must be those of the record */
	walk.has_open_addresses = analysis->walk.has_open_addresses;
	memcpy(walk.chosen, analysis->walk.chosen,
		BITSET_WORDS(analysis->image.site_count) * sizeof *walk.chosen);
	walk_run(&walk, WALK_EVENTS);
	runs_compare(analysis, &walk, run);
	walk.shared = (struct shared_map){0};
	walk_close(&walk);
}

bool runs_next(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;
	struct worker *worker = &search->observer;

	while (search->flip_next < search->flip_count) {
		struct flip *flip = &search->flips[search->flip_next++];

		solution_release(&worker->solution);
		worker->solution = flip->solution;
		flip->solution = (struct solution){0};
		if (analysis->locations.items[flip->location].is_proven)
			continue;
		worker->goal = flip->goal;
		worker->location = flip->location;
		worker->pass = PASS_BRANCHES;
		return true;
	}
	return false;
}

static void runs_release_flips(struct search *search)
{
	while (search->flip_count)
		solution_release(&search->flips[--search->flip_count].solution);
	search->flip_next = 0;
}

void runs_begin_buffered(struct sensitivity *analysis)
{
	runs_release_flips(&analysis->search);
	analysis->search.is_buffered = true;
}

void runs_close(struct sensitivity *analysis)
{
	struct search *search = &analysis->search;

	solution_release(&search->observer.solution);
	runs_release_flips(search);
	free(search->flips);
	free(search->holds);
}
