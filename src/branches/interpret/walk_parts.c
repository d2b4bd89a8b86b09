/*
 * Divides runs whose events do not fit in memory into parts. Each walk starts at the beginning of
 * the run. Before its part a walk creates no terms and records only step counts, operations, and
 * written values. The walk ends with the part.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/slots.h"
#include "branches/interpret/walk_internal.h"

void walk_weigh(struct walker *walker)
{
	struct walk *walk = walker->walk;

	if (walker->position >= walk->weight_count) {
		const uint64_t count = 2 * walker->position + 1024;

		walk->weights = array_resize(walk->weights, count, sizeof *walk->weights);
		memset(walk->weights + walk->weight_count, 0,
			(count - walk->weight_count) * sizeof *walk->weights);
		walk->weight_count = count;
	}
	walk->weights[walker->position]++;
}

uint32_t walk_divide(const struct walk *walk, uint64_t events_most, struct walk_part **parts)
{
	uint64_t events = 0;
	uint32_t count = 1;

	*parts = array_new(1, sizeof **parts);
	for (uint64_t position = 0; position < walk->weight_count; position++) {
		if (events && events + walk->weights[position] > events_most) {
			*parts = array_resize(*parts, count + 1, sizeof **parts);
			(*parts)[count - 1].end = position;
			(*parts)[count++] = (struct walk_part){.begin = position};
			events = 0;
		}
		events += walk->weights[position];
	}
	return count;
}

struct walk_part walk_part_before(const struct walk *walk, uint64_t position, uint64_t events_most)
{
	const uint64_t end = position < walk->weight_count ? position + 1 : walk->weight_count;
	struct walk_part part = {.begin = end, .end = position < walk->weight_count ? end : 0};
	uint64_t events = 0;

	/* The last position belongs to the part even if it exceeds the limit alone. */
	while (part.begin &&
		(part.begin == end || events + walk->weights[part.begin - 1] <= events_most))
		events += walk->weights[--part.begin];
	return part;
}

void walk_reach(struct walker *walker, uint64_t position)
{
	const struct walk_part *part = &walker->walk->part;

	if (position > walker->walk->position_most) {
		(void)walk_end_at(walker, WALK_LOST, "a turn that the run did not have");
		return;
	}
	if (position > UINT32_MAX) {
		(void)walk_end_at(walker, WALK_UNKNOWN, "more points than are counted");
		return;
	}
	walker->position = position;
	if (!(walker->mode & WALK_EVENTS))
		return;
	if (walker->is_before && position >= part->begin) {
		walker->is_before = false;
		walk_begin_events(walker->out);
	}
	if (part->end && position >= part->end) {
		walker->is_over = true;
		walker->summary->end = WALK_COMPLETE;
	}
}

void walk_note_steps(struct walker *walker)
{
	struct walked_thread *out = walker->out;
	struct walk_event *event = out->count ? &out->events[out->count - 1] : NULL;

	if (!event || event->kind != EVENT_STEPS || event->position != walker->position)
		event = walk_add_event(walker, EVENT_STEPS);
	event->step = (uint32_t)(walker->steps - 1);
}

/* Position of the last write to each byte before the part, plus one. */
struct word_before {
	uint64_t word; /* word number plus one; 0: free slot */
	uint64_t positions[8];
	uint8_t bytes[8];
};

/* Threads are walked in any order, so the write with the greatest position wins. */
void walk_note_before(struct walker *walker, uint64_t address, uint32_t bytes, uint64_t value)
{
	struct walk *walk = walker->walk;

	for (uint32_t i = 0; i < bytes; i++) {
		const uint64_t at = address + i;
		struct word_before *word = slots_add(&walk->before, sizeof *word, (at >> 3) + 1);

		if (word->positions[at & 7] > walker->position + 1)
			continue;
		word->positions[at & 7] = walker->position + 1;
		word->bytes[at & 7] = (uint8_t)(value >> 8 * i);
	}
}

uint32_t walk_before(const struct walk *walk, uint64_t address, uint32_t bytes, uint64_t *value)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < bytes; i++) {
		const struct word_before *word =
			slots_get(&walk->before, sizeof *word, ((address + i) >> 3) + 1);

		if (!word || !word->positions[(address + i) & 7])
			continue;
		*value &= ~(UINT64_C(255) << 8 * i);
		*value |= (uint64_t)word->bytes[(address + i) & 7] << 8 * i;
		known++;
	}
	return known;
}

void walk_forget_events(struct walk *walk)
{
	memset(walk->threads, 0, walk->record->thread_count * sizeof *walk->threads);
	walk->event_room = 0;
	term_arena_clear(&walk->terms);
	slots_release(&walk->before);
	slots_release(&walk->initials);
	walk->semaphore_count = 0;
	walk->release_count = 0;
}
