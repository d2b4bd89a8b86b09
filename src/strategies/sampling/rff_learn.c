/* What strategy `rff` learns: the pairs that the first runs of a round showed. */
#include "strategies/sampling/rff_internal.h"

#include <string.h>

void rff_begin_lesson(struct rff *rff)
{
	key_table_clear(&rff->run_objects);
	key_table_clear(&rff->run_ranks);
	key_table_clear(&rff->run_pairs);
	rff->lessons[rff->position].pair_count = 0;
	rff->lessons[rff->position].aim_count = rff->constraint_count;
	for (uint32_t i = 0; i < rff->constraint_count; i++)
		rff->lessons[rff->position].aims[i] = rff_pair_key(rff->constraints[i].first,
			rff->constraints[i].second, rff->constraints[i].is_own);
}

/* Counts an op of the thread on the object. Returns the number of earlier ones, at most 255. */
static uint8_t rff_next_rank(struct rff *rff, uint32_t thread, object_name object)
{
	const uint32_t known = rff->run_ranks.count;
	const uint32_t index = key_table_add(&rff->run_ranks, hash_pair(object, thread));

	if (index == KEY_TABLE_NONE)
		return 0;
	if (rff->run_ranks.count > known)
		rff->run_rank_of[index] = 0;
	if (rff->run_rank_of[index] == UINT8_MAX)
		return UINT8_MAX;
	return rff->run_rank_of[index]++;
}

/* Adds the pair of the last write and this op to the lesson, once per run. */
static void rff_note_pair(struct rff *rff, const struct pending_op *op, uint64_t event,
	uint8_t rank, const struct rff_write *write, bool is_own)
{
	struct rff_lesson *lesson = &rff->lessons[rff->position];
	const uint32_t known = rff->run_pairs.count;

	(void)key_table_add(&rff->run_pairs, hash_pair(write->event + is_own, event));
	if (rff->run_pairs.count == known)
		return;
	lesson->pairs[lesson->pair_count++] = (struct rff_lesson_pair){.first = write->event,
		.second = event,
		.object = op->object,
		.first_rank = write->rank,
		.second_rank = rank,
		.is_own = is_own,
		.is_shared = write->is_shared,
		.is_second_write = rff_is_write(op)};
}

void rff_note(struct rff *rff, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const uint32_t known = rff->run_objects.count;
	struct rff_write *write;
	uint32_t index;
	uint64_t event;
	uint8_t rank;

	/* A full lesson takes no more pairs, so the rest of the run teaches nothing. */
	if (!rff_may_race(op) || rff->lessons[rff->position].pair_count == RFF_LESSON_PAIRS)
		return;
	index = key_table_add(&rff->run_objects, op->object);
	if (index == KEY_TABLE_NONE)
		return;
	write = &rff->writes[index];
	if (rff->run_objects.count > known)
		*write = (struct rff_write){.first_user = thread};
	write->is_shared |= write->first_user != thread;
	rank = rff_next_rank(rff, thread, op->object);
	event = rff_event_key(op, rank);
	if (view->thread_count > 1)
		rff_note_pair(rff, op, event, rank, write, write->event && write->thread == thread);
	if (!rff_is_write(op))
		return;
	write->event = event;
	write->thread = thread;
	write->rank = rank;
}

/* ---- rounds ---- */

void rff_begin_position(void *state, uint32_t position)
{
	((struct rff *)state)->position = position;
}

void rff_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct rff *from = other;
	struct rff *rff = state;

	for (uint32_t i = position; i < position + count && i < RFF_TEACHING; i++) {
		rff->lessons[i].pair_count = from->lessons[i].pair_count;
		rff->lessons[i].aim_count = from->lessons[i].aim_count;
		memcpy(rff->lessons[i].aims, from->lessons[i].aims, sizeof rff->lessons[i].aims);
		memcpy(rff->lessons[i].pairs, from->lessons[i].pairs,
			from->lessons[i].pair_count * sizeof *from->lessons[i].pairs);
	}
}

static uint32_t rff_learn_event(
	struct rff *rff, uint64_t key, object_name object, uint8_t rank, bool is_write)
{
	const uint32_t known = rff->events.count;
	const uint32_t index = key_table_add(&rff->objects, object);
	uint32_t event;

	if (index == KEY_TABLE_NONE)
		return KEY_TABLE_NONE;
	event = key_table_add(&rff->events, key);
	if (rff->events.count > known) {
		rff->event_of[event] = (struct rff_event){.object = (uint16_t)index,
			.next = rff->object_of[index].first_event,
			.rank = rank,
			.is_write = is_write};
		rff->object_of[index].first_event = (uint16_t)(event + 1);
		rff->has_grown = true;
	}
	return event;
}

static void rff_count_pair(struct rff *rff, uint64_t key)
{
	const uint32_t known = rff->pairs.count;
	const uint32_t pair = key_table_add(&rff->pairs, key);

	if (pair == KEY_TABLE_NONE)
		return;
	if (rff->pairs.count > known)
		rff->count_of[pair] = 0;
	if (rff->count_of[pair] < UINT16_MAX)
		rff->count_of[pair]++;
}

static void rff_learn_pair(struct rff *rff, const struct rff_lesson_pair *taught)
{
	const uint32_t second = rff_learn_event(
		rff, taught->second, taught->object, taught->second_rank, taught->is_second_write);
	struct rff_object *object;
	uint32_t first = RFF_START;

	if (taught->first)
		first = rff_learn_event(
			rff, taught->first, taught->object, taught->first_rank, true);
	if (second == KEY_TABLE_NONE || (taught->first && first == KEY_TABLE_NONE))
		return;
	object = &rff->object_of[rff->event_of[second].object];
	rff->has_grown |= taught->is_shared > object->is_shared ||
			  taught->is_second_write > object->is_written;
	object->is_shared |= taught->is_shared;
	object->is_written |= taught->is_second_write;
	rff_count_pair(rff, rff_pair_key(first, second, taught->is_own));
}

void rff_learn(void *state, uint32_t count, uint32_t next)
{
	struct rff *rff = state;

	(void)next; /* nothing is planned */
	for (uint32_t i = 0; i < count && i < RFF_TEACHING; i++) {
		for (uint32_t pair = 0; pair < rff->lessons[i].pair_count; pair++)
			rff_learn_pair(rff, &rff->lessons[i].pairs[pair]);
		for (uint32_t aim = 0; aim < rff->lessons[i].aim_count; aim++)
			rff_count_pair(rff, rff->lessons[i].aims[aim]);
	}
	if (!rff->has_grown)
		return;
	rff->has_grown = false;
	rff->contended_count = 0;
	for (uint32_t i = 0; i < rff->events.count; i++) {
		const struct rff_object *object = &rff->object_of[rff->event_of[i].object];

		if (object->is_shared && object->is_written)
			rff->contended[rff->contended_count++] = (uint16_t)i;
	}
}

void rff_share(void *state, const void *other)
{
	const struct rff *from = other;
	struct rff *rff = state;

	key_table_copy(&rff->objects, &from->objects);
	key_table_copy(&rff->events, &from->events);
	key_table_copy(&rff->pairs, &from->pairs);
	memcpy(rff->event_of, from->event_of, from->events.count * sizeof *from->event_of);
	memcpy(rff->count_of, from->count_of, from->pairs.count * sizeof *from->count_of);
	memcpy(rff->object_of, from->object_of, from->objects.count * sizeof *from->object_of);
	rff->contended_count = from->contended_count;
	memcpy(rff->contended, from->contended, from->contended_count * sizeof *from->contended);
}
