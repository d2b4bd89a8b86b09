/*
 * Preemptions by site that strategy `replay` makes (replay.h, REPLAY_PREEMPT). view_default() chooses
 * everywhere else.
 *
 * A *preemption by site* names a code address and the number of an operation among those at that
 * address, of all threads of the run. Before that operation another thread runs instead. The
 * preempted thread continues once other threads have performed some operations on the same object, or
 * some steps. One preemption is under way at a time. A preemption thus changes little of the run
 * behind it, and many of them hardly depend on each other. With `op_count` 0 the preempted thread
 * is not continued in this way, and further preemptions may follow.
 *
 * An operation is *open* if its thread holds no lock, or is about to acquire one. A thread that is preempted
 * elsewhere soon blocks the others, so that nothing has changed when the thread continues.
 *
 * The block lies at the end of the state of `replay`, contains no pointers, and is filled by the
 * command.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/view.h"
#include "strategies/replay/replay.h"

#define REPLAY_PREEMPTIONS_MOST 16u

struct replay_preemption {
	uint64_t site, number; /* number: from 1 */
	uint32_t turn;	       /* the thread to run, modulo the number of other enabled ones */
	uint32_t op_count,
		step_count; /* of other threads until the preempted thread continues; op_count 0: never */
	bool is_open;	    /* `number` counts open operations only */
};

struct replay_preempt {
	uint32_t count;
	struct replay_preemption items[REPLAY_PREEMPTIONS_MOST];
	uint32_t next[REPLAY_PREEMPTIONS_MOST]; /* 1 + another item of the site; 0: none */
	struct key_table sites;
	uint32_t first[KEY_TABLE_CAPACITY]; /* 1 + an item of the site; 0: none */
	/* Of the current run. */
	/* operations at each site, and open ones */
	uint64_t performed[KEY_TABLE_CAPACITY], open[KEY_TABLE_CAPACITY];
	uint32_t held[THREAD_CAPACITY]; /* locks that the thread holds */
	struct thread_id preempted;	/* THREAD_NONE: no preemption is under way */
	object_name object;		/* of its pending operation */
	uint32_t op_left, step_left;
};

/* Appends the block to a state that replay_state_init() has laid out. Counts the operations at these
 * sites, and at those of the preemptions. */
void replay_state_set_preemptions(struct replay_state *state, const struct replay_preemption *items,
	uint32_t count, const uint64_t *sites, uint32_t site_count);

static inline size_t replay_preempt_bytes(void)
{
	return sizeof(struct replay_preempt) + sizeof(uint64_t);
}

static inline struct replay_preempt *replay_preempt(struct replay_state *state)
{
	return (struct replay_preempt *)((char *)state + state->preempt_offset);
}

/* For replay.c. */
void replay_preempt_begin_run(struct replay_preempt *preempt);
struct thread_id replay_preempt_choose(
	struct replay_preempt *preempt, const struct schedule_view *view);
void replay_preempt_executed(
	struct replay_preempt *preempt, const struct schedule_view *view, uint32_t thread);
