/* Walks of the analysis. The events of a large run are made, searched and dropped part by part. */
#include <inttypes.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/hash.h"
#include "base/starts_with.h"
#include "branches/solve/sensitivity_internal.h"

/* This limit keeps the process with solver and record below 4 GB. */
#define PART_BYTES (UINT64_C(1) << 30)
/* Measured size of an event with its terms and its entry in the order: 570 bytes. */
#define EVENT_BYTES 600u
/* Size of an event's clocks, per thread. */
#define CLOCK_BYTES 8u

/* Rounds in which pointers found in one round reveal further memory. */
#define ADDRESS_ROUNDS_MOST 4

/* Returns a hash of the outcomes of all branches on shared memory. */
static uint64_t parts_path_of(const struct walk *walk)
{
	uint64_t hash = 0;

	for (uint32_t thread = 0; thread < walk->record->thread_count; thread++) {
		uint64_t own = walk->record->threads[thread].name;

		for (uint64_t i = 0; i < walk->threads[thread].count; i++) {
			const struct walk_event *event = &walk->threads[thread].events[i];

			if (event_is_branch(event))
				own = hash_mix(
					own ^ LLVMGetDebugLocLine(event_instruction(event)) ^
					(uint64_t)LLVMGetDebugLocColumn(event_instruction(event))
						<< 20 ^
					(uint64_t)event->case_value << 40);
		}
		hash += hash_mix(own);
	}
	return hash;
}

/* Lists names as far as the buffer has room: "memcpy 3, read 1". Returns the total. */
static uint64_t parts_count_unknown(const struct walk *walk, bool is_read, char *text, size_t bytes)
{
	STRBUF_SCOPED list = STRBUF_EMPTY;
	uint64_t count = 0;

	/* The list accumulates over the parts. */
	for (uint32_t i = 0; i < walk->unknown_count; i++) {
		const struct walk_unknown *unknown = &walk->unknowns[i];
		/* "llvm.memcpy.p0.p0.i64" is shown as memcpy. */
		const char *name = unknown->name + (starts_with(unknown->name, "llvm.") ? 5 : 0);

		if (unknown->is_read != is_read)
			continue;
		strbuf_addf(&list, "%s%.*s %" PRIu64, count ? ", " : "", (int)strcspn(name, "."),
			name, unknown->count);
		count += unknown->count;
	}
	(void)snprintf(text, bytes, "%s", list.text);
	return count;
}

/* Returns the number of threads that ended for this reason; 0: an earlier thread already reported
 * it. */
static uint32_t parts_count_equal_reasons(const struct walk *walk, uint32_t first)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < walk->record->thread_count; i++) {
		if (!walk_is_unfinished(&walk->threads[i]) ||
			strcmp(walk->threads[i].summary.reason,
				walk->threads[first].summary.reason) != 0)
			continue;
		if (i < first)
			return 0;
		count++;
	}
	return count;
}

/* Counts why threads could not be walked to their ends, as far as the buffer has room. */
static void parts_count_reasons(struct sensitivity_figures *figures, const struct walk *walk)
{
	STRBUF_SCOPED list = STRBUF_EMPTY;

	for (uint32_t i = 0; i < walk->record->thread_count; i++) {
		const uint32_t count = walk_is_unfinished(&walk->threads[i])
					       ? parts_count_equal_reasons(walk, i)
					       : 0;

		if (count)
			strbuf_addf(&list, "%s%s", list.length ? ", " : "",
				walk->threads[i].summary.reason);
		if (count > 1)
			strbuf_addf(&list, " (%u)", count);
	}
	(void)snprintf(figures->unfinished, sizeof figures->unfinished, "%s", list.text);
}

static void parts_count_run(struct sensitivity *analysis)
{
	struct sensitivity_figures *figures = &analysis->figures;
	const struct walk *walk = &analysis->walk;
	const struct shared_word *words = walk->shared.words.items;

	figures->threads = walk->record->thread_count;
	for (uint32_t i = 0; i < figures->threads; i++) {
		const struct walked_thread *thread = &walk->threads[i];

		figures->instructions += thread->summary.instructions;
		figures->unfinished_threads += walk_is_unfinished(thread);
	}
	parts_count_reasons(figures, walk);
	for (uint64_t i = 0; i < walk->shared.words.capacity; i++)
		figures->shared_words += words[i].is_shared;
}

static void parts_count_events(struct sensitivity *analysis)
{
	struct sensitivity_figures *figures = &analysis->figures;
	const struct walk *walk = &analysis->walk;

	for (uint32_t i = 0; i < figures->threads; i++) {
		const struct walked_thread *thread = &walk->threads[i];

		figures->events += thread->count - thread->first;
		figures->critical_events += thread->critical_count;
		figures->branches += thread->branch_count;
	}
	figures->unknown_writes =
		parts_count_unknown(walk, false, figures->unknown, sizeof figures->unknown);
	figures->unknown_uses = parts_count_unknown(
		walk, true, figures->unknown_users, sizeof figures->unknown_users);
}

/* Returns the number of accesses to shared memory that the choosing walk has counted. */
static uint64_t parts_count_weights(const struct walk *walk)
{
	uint64_t count = 0;

	for (uint64_t i = 0; i < walk->weight_count; i++)
		count += walk->weights[i];
	return count;
}

/* Updates the numbers of steps and points. A walk counts only the steps of its part, but the run
 * has at least one step per shared access. */
static void parts_count_steps(struct sensitivity *analysis)
{
	const struct walk *walk = &analysis->walk;
	const uint64_t accesses = parts_count_weights(walk);
	uint64_t steps = 0;

	for (uint32_t i = 0; i < walk->record->thread_count; i++)
		steps += walk->threads[i].summary.steps;
	steps = steps > accesses ? steps : accesses;
	if (analysis->figures.steps < steps)
		analysis->figures.steps = steps;
	for (uint32_t i = 0; i < walk->record->thread_count; i++) {
		const struct walked_thread *thread = &walk->threads[i];
		const uint64_t last =
			thread->count ? thread->events[thread->count - 1].position : 0;

		if (analysis->figures.points < last)
			analysis->figures.points = last;
	}
}

/* Returns a hash of the record for runs processed in parts: equal for equal records. */
static uint64_t parts_path_of_record(const struct run_record *record)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < record->thread_count; i++)
		hash = hash_mix(
			hash ^ hash_bytes(record->threads[i].bytes, record->threads[i].size));
	return hash;
}

/* Limits for open addresses, which need more walks. */
#define OPEN_INSTRUCTIONS_MOST UINT64_C(100000000)
#define OPEN_EVENTS_MOST 20000

static bool parts_may_have_open_addresses(const struct sensitivity *analysis)
{
	return analysis->part_count == 1 &&
	       analysis->figures.instructions <= OPEN_INSTRUCTIONS_MOST &&
	       parts_count_weights(&analysis->walk) <= OPEN_EVENTS_MOST;
}

/* Makes memory of one thread shared if open addresses may refer to it. */
static void parts_share_addresses(struct sensitivity *analysis)
{
	for (uint32_t round = 0; round < ADDRESS_ROUNDS_MOST; round++) {
		struct order order;
		uint32_t count;

		order_build(&order, &analysis->walk);
		count = addresses_share(&analysis->walk, &order);
		order_release(&order);
		if (!count)
			return;
		walk_forget_events(&analysis->walk);
		walk_run(&analysis->walk, WALK_CHOOSING);
		walk_run(&analysis->walk, WALK_EVENTS);
	}
}

static void parts_open_part(struct sensitivity *analysis)
{
	uint64_t begin = thread_processor_ns(), took;

	analysis->walk.part = analysis->parts[analysis->part];
	analysis->walk.has_open_addresses = parts_may_have_open_addresses(analysis);
	walk_run(&analysis->walk, WALK_EVENTS);
	if (analysis->walk.has_open_addresses)
		parts_share_addresses(analysis);
	parts_count_steps(analysis);
	parts_count_events(analysis);
	took = thread_processor_ns() - begin;
	analysis->figures.walk_ns += took;
	analysis->figures.events_ns += took;
	begin = search_now_ns();
	order_build(&analysis->order, &analysis->walk);
	locations_fill(analysis);
	analysis->figures.chunk_count += search_chunk_count(analysis);
	analysis->figures.solve_ns += search_now_ns() - begin;
	search_open(analysis);
}

void parts_open(struct sensitivity *analysis)
{
	const struct run_record *record = analysis->image.record;
	const uint64_t begin = thread_processor_ns();
	uint64_t most = PART_BYTES / (EVENT_BYTES + CLOCK_BYTES * (uint64_t)record->thread_count);

	if (analysis->options.part)
		most = analysis->options.part;
	walk_open(&analysis->walk, &analysis->book, record);
	walk_run(&analysis->walk, WALK_SHARING);
	walk_run(&analysis->walk, WALK_CHOOSING);
	parts_count_run(analysis);
	analysis->part_count = walk_divide(&analysis->walk, most, &analysis->parts);
	analysis->figures.parts = analysis->part_count;
	analysis->figures.walk_ns = thread_processor_ns() - begin;
	parts_open_part(analysis);
	analysis->figures.path = analysis->part_count > 1 ? parts_path_of_record(record)
							  : parts_path_of(&analysis->walk);
}

bool parts_next(struct sensitivity *analysis)
{
	if (analysis->part + 1 >= analysis->part_count || analysis->search.is_stopping ||
		search_is_late(analysis) || !search_close(analysis))
		return false;
	analysis->search = (struct search){0};
	order_release(&analysis->order);
	walk_forget_events(&analysis->walk);
	analysis->part++;
	parts_open_part(analysis);
	return !code_book_is_interrupted(&analysis->book);
}

void parts_close(struct sensitivity *analysis)
{
	order_release(&analysis->order);
	walk_close(&analysis->walk);
	free(analysis->parts);
}
