/* Classes of traces that a shard of dpor explores, and the restrictions on their runs. */
#include "strategies/dpor/dpor_shards.h"

#include <string.h>

#include "base/hash.h"
#include "strategies/dpor/dpor_order.h"

/* The work in a class is not known; several classes per shard reduce the imbalance. */
#define CLASSES_PER_SHARD 8

static bool dpor_shards_is_about(const struct dpor_event *event, const struct dpor_op *op)
{
	return event->thread == op->thread && event->object == op->object &&
	       !(op->untouched & ~event->untouched) && !(event->is_change && op->flags & OP_READ);
}

static bool dpor_shards_is_executed(const struct dpor_event *event)
{
	return event->before >= event->ordinal;
}

static bool dpor_shards_is_due(const struct dpor_event *event, const struct dpor_op *op)
{
	return event->before + 1 == event->ordinal && dpor_shards_is_about(event, op);
}

/* Counts the step as an event of the pair. Both events have one object. */
static inline void dpor_shards_count(struct dpor_pair *pair, struct dpor_step *step, uint64_t bit)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct dpor_event *event = &pair->events[i];

		if (!dpor_shards_is_about(event, &step->op) || ++event->before != event->ordinal)
			continue;
		if (i == pair->lead)
			step->leads |= bit;
		else
			step->follows |= bit;
	}
}

void dpor_share_note(struct dpor *dpor, struct dpor_step *step)
{
	struct dpor_share *share = &dpor->share;

	step->leads = step->follows = 0;
	for (uint32_t i = 0; i < share->pair_count; i++)
		if (share->pairs[i].events[0].object == step->op.object)
			dpor_shards_count(&share->pairs[i], step, UINT64_C(1) << i);
}

void dpor_share_strike(struct dpor *dpor, const struct dpor_step *step)
{
	struct dpor_share *share = &dpor->share;

	for (uint32_t i = 0; i < share->pair_count; i++) {
		struct dpor_event *events = share->pairs[i].events;

		if (events->object != step->op.object)
			continue;
		events[0].before -= dpor_shards_is_about(&events[0], &step->op);
		events[1].before -= dpor_shards_is_about(&events[1], &step->op);
	}
}

void dpor_share_begin_run(struct dpor *dpor)
{
	struct dpor_share *share = &dpor->share;

	share->held = 0;
	share->is_held_up = false;
	share->is_elsewhere =
		share->is_scouting || (share->shard > 1 && dpor->lessons < DPOR_LESSONS);
	for (uint32_t i = 0; !dpor->depth && i < share->pair_count; i++)
		share->pairs[i].events[0].before = share->pairs[i].events[1].before = 0;
}

uint64_t dpor_share_follows(const struct dpor *dpor, const struct dpor_op *op)
{
	uint64_t pairs = 0;

	for (uint32_t i = 0; i < dpor->share.pair_count; i++) {
		const struct dpor_pair *pair = &dpor->share.pairs[i];

		if (dpor_shards_is_due(&pair->events[!pair->lead], op))
			pairs |= UINT64_C(1) << i;
	}
	return pairs;
}

void dpor_share_look(struct dpor *dpor, const struct schedule_view *view)
{
	struct dpor_share *share = &dpor->share;

	share->held = 0;
	for (uint32_t i = 0; i < share->pair_count; i++) {
		const struct dpor_pair *pair = &share->pairs[i];
		const struct dpor_event *second = &pair->events[!pair->lead];
		const uint32_t index = dpor->index_of[second->thread];
		struct dpor_op op;

		if (dpor_shards_is_executed(&pair->events[pair->lead]) ||
			index >= view->thread_count || view->pending[index].kind == OP_NONE ||
			view->pending[index].object != second->object)
			continue;
		op = dpor_op_of(dpor, view, index);
		if (dpor_shards_is_due(second, &op))
			share->held |= UINT64_C(1) << second->thread;
	}
}

void dpor_share_hold_up(struct dpor *dpor)
{
	dpor->sleeper_used = dpor_steps(dpor)[dpor->depth].sleeper;
	dpor->step_count = dpor->depth;
	dpor->share.is_held_up = true;
	dpor->is_blocked = true;
}

bool dpor_share_is_redundant(const struct dpor *dpor)
{
	for (uint32_t i = 0; i < dpor->share.pair_count; i++) {
		const struct dpor_pair *pair = &dpor->share.pairs[i];

		if (pair->lead && !dpor_shards_is_executed(&pair->events[0]) &&
			!dpor_shards_is_executed(&pair->events[1]))
			return true;
	}
	return dpor->is_blocked;
}

/* Returns the event of the step `number`, whose op overlaps with that of the step `other`. */
static struct dpor_event dpor_shards_event_of(
	struct dpor *dpor, uint32_t number, uint32_t other, bool is_change)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	struct dpor_event event = {.object = steps[number].op.object,
		.thread = steps[number].op.thread,
		.untouched = steps[number].op.untouched | steps[other].op.untouched,
		.is_change = is_change};

	for (uint32_t i = 0; i <= number; i++)
		event.ordinal += !steps[i].is_value && dpor_shards_is_about(&event, &steps[i].op);
	return event;
}

/* Returns whether both ops concern one memory location or one mutex, and only that. */
static bool dpor_shards_is_one_location(const struct dpor_op *first, const struct dpor_op *second)
{
	const uint8_t class = dpor_class_of(first);

	return (class == OBJECT_MEMORY || class == OBJECT_MUTEX) &&
	       first->object == second->object && op_overlaps(first->untouched, second->untouched);
}

/* The first race of the run, in the order of its later steps, between two such events. */
static bool dpor_shards_find_pair(struct dpor *dpor, struct dpor_pair *pair)
{
	const struct dpor_step *steps = dpor_steps(dpor);
	uint32_t first;

	for (uint32_t second = 0; second < dpor->depth; second++) {
		if (steps[second].is_value)
			continue;
		first = dpor_first_race(dpor, second, dpor_shards_is_one_location);
		if (first == DPOR_NONE)
			continue;
		if (steps[first].op.flags & OP_READ) {
			pair->events[0] = dpor_shards_event_of(dpor, second, first, true);
			pair->events[1] = dpor_shards_event_of(dpor, first, second, false);
		} else {
			pair->events[0] = dpor_shards_event_of(dpor, first, second, true);
			pair->events[1] = dpor_shards_event_of(dpor, second, first, false);
		}
		return true;
	}
	return false;
}

/* Pairs that divide the search. */
static uint32_t dpor_shards_level(const struct dpor_share *share)
{
	return share->pair_count - share->fixed_count;
}

/* Pseudo-random, so that no shard always gets the same side of the last pairs. */
static uint32_t dpor_shards_leaf_of(const struct dpor_share *share, uint32_t block)
{
	const uint32_t turn = (uint32_t)(hash_pair(share->shards, block) % share->shards);

	return block * share->shards + (share->shard - 1 + turn) % share->shards;
}

static uint8_t dpor_shards_side_of(const struct dpor_share *share, uint32_t leaf, uint32_t level)
{
	return leaf >> (share->levels - 1 - level) & 1;
}

static void dpor_shards_begin_tree(struct dpor *dpor)
{
	dpor_forget(dpor);
	memcpy(dpor->racy, dpor->share.taught, sizeof dpor->racy);
}

static void dpor_shards_set_out(struct dpor *dpor)
{
	struct dpor_share *share = &dpor->share;

	share->is_scouting = dpor_shards_level(share) < share->levels;
	dpor_shards_begin_tree(dpor);
}

/* Returns whether the path ends before the last level, with the leaf as the first one below its
 * end. */
static bool dpor_shards_is_first_below(const struct dpor_share *share)
{
	return !(share->leaf & ((1u << (share->levels - dpor_shards_level(share))) - 1));
}

bool dpor_share_next(struct dpor *dpor)
{
	struct dpor_share *share = &dpor->share;
	const uint32_t last = share->leaf;
	uint32_t common = 0;

	share->leaf = dpor_shards_leaf_of(share, ++share->block);
	if (share->leaf >> share->levels)
		return false;
	while (common < dpor_shards_level(share) &&
		dpor_shards_side_of(share, last, common) ==
			dpor_shards_side_of(share, share->leaf, common))
		common++;
	if (common < dpor_shards_level(share)) { /* the next class reverses this pair */
		share->pairs[share->fixed_count + common].lead =
			dpor_shards_side_of(share, share->leaf, common);
		common++;
	}
	share->pair_count = share->fixed_count + common;
	dpor_shards_set_out(dpor);
	return true;
}

void dpor_share_scouted(struct dpor *dpor)
{
	struct dpor_share *share = &dpor->share;
	struct dpor_pair *pair = &share->pairs[share->pair_count];

	if (dpor_shards_find_pair(dpor, pair)) {
		pair->lead = dpor_shards_side_of(share, share->leaf, dpor_shards_level(share));
		share->pair_count++;
		if (dpor_shards_level(share) == 1)
			share->plan = hash_pair(share->plan,
				hash_pair(pair->events[0].object, pair->events[1].ordinal));
		dpor_shards_set_out(dpor);
	} else if (dpor_shards_is_first_below(share)) {
		share->is_scouting = false;
		dpor_shards_begin_tree(dpor);
	} else if (!dpor_share_next(dpor)) {
		dpor->is_exhausted = true;
	}
}

void dpor_share_begin(struct dpor *dpor)
{
	struct dpor_share *share = &dpor->share;

	memcpy(share->taught, dpor->racy, sizeof share->taught);
	share->plan = hash_pair(hash_bytes(share->taught, sizeof share->taught), dpor->main_ops);
	for (uint32_t i = 0; i < share->fixed_count; i++)
		share->plan = hash_pair(share->plan, hash_pair(share->pairs[i].events[0].object,
							     share->pairs[i].events[1].thread));
	share->pair_count = share->fixed_count;
	share->block = 0;
	while ((UINT32_C(1) << share->levels) < share->shards * CLASSES_PER_SHARD)
		share->levels++;
	share->leaf = dpor_shards_leaf_of(share, 0);
	dpor_shards_set_out(dpor);
}
