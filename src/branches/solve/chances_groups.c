/*
 * Trials that hold every thread at each execution of one source expression until no other thread is
 * enabled. The threads then advance in lockstep, and each one sees what the others have done. Such
 * trials find waits and phases that end too early: these only seem to synchronise while the timing
 * is favourable.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/hash.h"
#include "branches/interpret/slots.h"
#include "branches/solve/chances.h"
#include "branches/solve/loops.h"

/* Each trial covers the whole run, so only the first instructions of the run get groups. */
#define GROUPS_MOST 32

/* By instruction. */
struct met_instruction {
	uint64_t key; /* key of slots.h */
	uint64_t place;
	bool is_wait; /* a branch of a waiting loop */
};

/* By source location: copies that compilers make of a function count as one. */
struct group_slot {
	uint64_t key; /* key of slots.h */
	uint32_t group;
};

struct group_table {
	struct met_instruction *instructions;
	uint64_t instruction_capacity, instruction_count;
	struct group_slot *slots;
	uint64_t capacity, count;
};

/* The reads of all waiting loops are one group. */
#define PLACE_OF_LOOKS UINT64_MAX

static uint64_t chances_groups_place_of(LLVMValueRef instruction)
{
	const uint64_t line = LLVMGetDebugLocLine(instruction);
	const uint64_t column = LLVMGetDebugLocColumn(instruction);
	uint64_t hash = hash_mix(line << 32 | column);
	unsigned length = 0;
	const char *file = LLVMGetDebugLocFilename(instruction, &length);

	if (!line)
		return (uint64_t)(uintptr_t)instruction;
	for (unsigned i = 0; i < length; i++)
		hash = hash_mix(hash + (unsigned char)file[i]);
	return hash;
}

static const struct met_instruction *chances_groups_meet(
	struct group_table *table, LLVMValueRef instruction)
{
	const uint64_t key = (uint64_t)(uintptr_t)instruction;
	struct met_instruction *slot;

	table->instructions = slots_reserve(table->instructions, &table->instruction_capacity,
		sizeof *table->instructions, table->instruction_count, 256);
	slot = slots_find(table->instructions, table->instruction_capacity, sizeof *slot, key);
	if (slot->key)
		return slot;
	*slot = (struct met_instruction){key, chances_groups_place_of(instruction),
		LLVMIsABranchInst(instruction) && loop_spin_leaves(instruction) >= 0};
	table->instruction_count++;
	return slot;
}

static uint64_t chances_groups_key_of(
	const struct rehearsal *rehearsal, struct event_id id, struct group_table *table)
{
	const struct walked_thread *thread = &rehearsal->walk->threads[id.thread];
	const struct walk_event *event = &thread->events[id.index];
	const struct walk_event *next = id.index + 1 < thread->count ? event + 1 : NULL;

	if (event->kind == EVENT_READ && next && next->kind == EVENT_BRANCH &&
		event_instruction(next) &&
		chances_groups_meet(table, event_instruction(next))->is_wait)
		return PLACE_OF_LOOKS;
	return event_instruction(event)
		       ? chances_groups_meet(table, event_instruction(event))->place | 1
		       : 1;
}

/* NULL: a new location beyond the limit. */
static struct group_slot *chances_groups_find(struct group_table *table, uint64_t key)
{
	struct group_slot *slot;

	table->slots = slots_reserve(
		table->slots, &table->capacity, sizeof *table->slots, table->count, 256);
	slot = slots_find(table->slots, table->capacity, sizeof *slot, key);
	if (!slot->key && table->count == GROUPS_MOST)
		return NULL;
	table->count += !slot->key;
	slot->key = key;
	return slot;
}

/* By thread and group: accesses since the thread's last operation. */
static uint32_t *counts_of(uint32_t *counts, uint16_t thread)
{
	return counts + (size_t)thread * (GROUPS_MOST + 1);
}

static bool chances_groups_is_chance(const struct chances *chances, uint32_t rank)
{
	return chances->rivals[rank] != UINT32_MAX;
}

static void list_event(
	struct chances *chances, uint32_t rank, struct group_table *table, uint32_t *counts)
{
	const struct event_id id = chances->rehearsal->order->events[rank];
	const struct walk_event *event =
		&chances->rehearsal->walk->threads[id.thread].events[id.index];
	struct group_slot *slot;

	if (event->kind == EVENT_OP)
		memset(counts_of(counts, id.thread), 0, (GROUPS_MOST + 1) * sizeof *counts);
	/* A thread cannot be held at the write of an atomic update. */
	if ((event->kind != EVENT_READ && event->kind != EVENT_WRITE) || event->is_atomic)
		return;
	slot = chances_groups_find(table, chances_groups_key_of(chances->rehearsal, id, table));
	if (!slot)
		return;
	if (!slot->group) {
		chances->group_firsts[chances->group_count] = UINT32_MAX;
		slot->group = ++chances->group_count;
	}
	if (chances->group_firsts[slot->group - 1] == UINT32_MAX &&
		chances_groups_is_chance(chances, rank))
		chances->group_firsts[slot->group - 1] = rank;
	chances->groups[rank] = slot->group;
	if (slot->key != PLACE_OF_LOOKS)
		chances->group_places[rank] = counts_of(counts, id.thread)[slot->group]++;
}

void chances_list_groups(struct chances *chances)
{
	const struct order *order = chances->rehearsal->order;
	struct group_table table = {0};
	uint32_t *counts =
		calloc((size_t)(order->thread_count + 1) * (GROUPS_MOST + 1), sizeof *counts);

	chances->groups = calloc(order->event_count + 1, sizeof *chances->groups);
	chances->group_places = calloc(order->event_count + 1, sizeof *chances->group_places);
	chances->group_firsts = calloc(GROUPS_MOST, sizeof *chances->group_firsts);
	BUG_ON(!counts || !chances->groups || !chances->group_places || !chances->group_firsts);
	for (uint64_t i = 0; i < order->event_count; i++)
		list_event(chances, (uint32_t)i, &table, counts);
	free(counts);
	free(table.instructions);
	free(table.slots);
}

void chances_add_groups(const struct chances *chances, struct hold_list *list)
{
	for (uint32_t i = 0; i < chances->group_count; i++) {
		const uint32_t first = chances->group_firsts[i];
		struct event_id id;

		if (first == UINT32_MAX)
			continue;
		id = chances->rehearsal->order->events[first];
		hold_list_add(list,
			&(struct hold){.held = id, .until = id, .is_long = true, .group = i + 1});
	}
}
