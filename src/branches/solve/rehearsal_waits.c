/*
 * Loops that wait, in a trial. The number of iterations depends on the schedule only. A trial
 * therefore needs just the last iteration, in which the thread reads the awaited value.
 */
#include "model/op.h"
#include "branches/interpret/slots.h"
#include "branches/solve/loops.h"
#include "branches/solve/rehearsal.h"

/* Reads of one iteration. */
#define READS_MOST 4

static const struct walk_event *rehearsal_waits_event_at(
	const struct rehearsal *rehearsal, uint32_t thread, uint32_t index)
{
	const struct walked_thread *walked = &rehearsal->walk->threads[thread];

	return index < walked->count ? &walked->events[index] : NULL;
}

/* The successor of the branch that leaves a waiting loop; -1: not such a branch. */
static int leaves_by(struct rehearsal *rehearsal, const struct walk_event *event)
{
	const uint64_t key = (uint64_t)(uintptr_t)event_instruction(event);
	struct wait_slot *slot;

	if (event->kind != EVENT_BRANCH || !key)
		return -1;
	rehearsal->waits = slots_reserve(rehearsal->waits, &rehearsal->wait_capacity,
		sizeof *rehearsal->waits, rehearsal->wait_count, 64);
	slot = slots_find(rehearsal->waits, rehearsal->wait_capacity, sizeof *slot, key);
	if (!slot->key) {
		*slot = (struct wait_slot){key, loop_spin_leaves(event_instruction(event))};
		rehearsal->wait_count++;
	}
	return slot->leaves;
}

/* Whether the branch left a waiting loop in the run. */
static bool rehearsal_waits_is_end(struct rehearsal *rehearsal, const struct walk_event *event)
{
	const int leaves = leaves_by(rehearsal, event);

	return leaves >= 0 && (uint32_t)leaves == event->case_value;
}

bool rehearsal_is_wait(struct rehearsal *rehearsal, const struct walk_event *event)
{
	return leaves_by(rehearsal, event) >= 0;
}

static bool is_read(const struct walk_event *event)
{
	return event && event->kind == EVENT_READ && !event->is_atomic;
}

/*
 * Finds the branch that ends the iteration whose reads begin at `begin`. False: no such iteration,
 * or not the last one.
 */
static bool find_last_look(
	struct rehearsal *rehearsal, uint32_t thread, uint32_t begin, uint32_t *branch)
{
	const struct walk_event *event = rehearsal_waits_event_at(rehearsal, thread, begin);

	for (*branch = begin; is_read(event) && *branch < begin + READS_MOST;)
		event = rehearsal_waits_event_at(rehearsal, thread, ++*branch);
	return *branch > begin && event && rehearsal_waits_is_end(rehearsal, event);
}

/* Sets *leaves: whether the thread leaves the loop with the current memory. False: not known. */
static bool leaves_now(
	struct rehearsal *rehearsal, uint32_t thread, uint32_t begin, uint32_t branch, bool *leaves)
{
	struct player *player = &rehearsal->players[thread];
	const struct walk_event *end = rehearsal_waits_event_at(rehearsal, thread, branch);
	uint64_t value;

	for (uint32_t i = begin; i < branch; i++)
		if (!rehearsal_read(
			    rehearsal, player, rehearsal_waits_event_at(rehearsal, thread, i)))
			return false;
	if (!rehearsal_value_so_far(
		    rehearsal, player, walk_event_term(rehearsal->walk, end), &value))
		return false;
	*leaves = rehearsal_goes_as_it_went(end, value);
	return true;
}

bool rehearsal_must_wait(struct rehearsal *rehearsal, uint32_t thread, uint32_t *branch)
{
	const uint32_t begin = rehearsal->players[thread].at;
	uint32_t found;
	bool leaves;

	if (!is_read(rehearsal_waits_event_at(rehearsal, thread, begin)) ||
		!find_last_look(rehearsal, thread, begin, &found) ||
		!leaves_now(rehearsal, thread, begin, found, &leaves) || leaves)
		return false;
	*branch = found;
	return true;
}

/*
 * Whether the event belongs to the waiting loop, so that nothing of the event is needed behind the
 * loop.
 */
static bool is_of_wait(struct rehearsal *rehearsal, const struct walk_event *event)
{
	const struct record_op *ops = rehearsal->walk->record->ops;

	if (event->kind == EVENT_OP)
		return event->value != UINT64_MAX && order_is_pause(&ops[event->value]);
	return is_read(event) || rehearsal_is_wait(rehearsal, event);
}

bool rehearsal_leaves_early(struct rehearsal *rehearsal, uint32_t thread)
{
	struct player *player = &rehearsal->players[thread];
	const uint32_t first = player->at;
	const struct walk_event *event = rehearsal_waits_event_at(rehearsal, thread, first);
	const uint64_t step = event->step;
	uint32_t begin = first + 1, end = 0;
	bool leaves;

	if (!rehearsal_is_wait(rehearsal, event))
		return false;
	/* `begin`: the first read of the iteration found last. */
	for (uint32_t i = first + 1; !end; i++) {
		event = rehearsal_waits_event_at(rehearsal, thread, i);
		if (!event || !is_of_wait(rehearsal, event))
			return false;
		if (rehearsal_waits_is_end(rehearsal, event))
			end = i;
		else if (!is_read(event))
			begin = i + 1;
	}
	if (!leaves_now(rehearsal, thread, begin, end, &leaves) || !leaves)
		return false;
	player->skipped += (uint32_t)(event->step - step);
	player->at = end;
	rehearsal_move_on(rehearsal, player, rehearsal->locks, thread);
	player->held = ++rehearsal->total;
	return true;
}
