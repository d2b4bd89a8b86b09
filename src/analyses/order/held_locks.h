/*
 * Tracks which locks each thread of a run holds. A trace records attempts, not their results; the
 * result follows from the owner of the lock. An attempt at a lock that another thread held has
 * failed or timed out. A blocking acquisition is recorded only when it succeeds.
 *
 * Locks acquired before the trace began (before the first thread creation) are unknown.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"
#include "model/op.h"

struct held_lock {
	uint64_t address;
	bool is_shared;		  /* the lock is held for reading */
	uint32_t depth;		  /* number of recursive acquisitions */
	struct trace_event taken; /* first acquisition */
};

struct held_locks; /* The held locks of one run */

struct held_locks *held_locks_new(uint32_t thread_count);
void held_locks_free(struct held_locks *held);

/* Returns the locks that a thread holds, oldest first; valid until the next event. */
const struct held_lock *held_locks_of(
	const struct held_locks *held, uint32_t thread, uint32_t *count);

enum lock_effect {
	LOCK_NOTHING,	/* the event acquires nothing, or the lock was already held */
	LOCK_TAKEN,	/* a successful attempt, which never blocks */
	LOCK_WAITED_FOR /* would have blocked if another thread had held the lock */
};

/* Returns the effect of the event, before held_locks_add() applies it. */
enum lock_effect held_locks_effect(const struct held_locks *held, const struct trace_event *event);
/* `released`: for the start of a condition wait the address of its mutex, 0: unknown. */
void held_locks_add(struct held_locks *held, const struct trace_event *event, uint64_t released);

/* Returns the mutex that a condition wait releases. `next[i]`: the thread's next event, `count`:
 * none. */
uint64_t waited_mutex(
	const struct trace_event *events, const uint32_t *next, uint32_t count, uint32_t wait);
