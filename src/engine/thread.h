/* A thread as the engine knows it. A rewind restores the table of threads with the target's memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/op.h"
#include "model/ids.h"
#include "platform/platform.h"

enum engine_thread_state {
	THREAD_UNUSED,
	THREAD_ALIVE,
	THREAD_DONE, /* ended, not yet joined */
	/* joined, or detached and ended; the index is reused only when all indices are used up */
	THREAD_REAPED,
	THREAD_DRAINER /* no thread: its steps drain the store buffer of its parent */
};

struct engine_thread {
	struct context context;
	/* The fields that follow are read for all waiters at each change of an object, so they lie
	 * close together. */
	struct engine_op *op; /* the pending op; NULL while the thread moves */
	struct engine_thread *object_next,
		*object_previous; /* threads with a pending op in the same bucket of objects */
	uint64_t signals_pending; /* bit (signal - 1) */
	uint64_t signals_blocked;
	/* priority under a real-time scheduling policy; 0: the thread has no such policy */
	uint8_t priority;
	/* private to the engine: why the pending op is enabled; see engine_wake_reason() */
	uint8_t wake_reason;
	/* wait_group.c: number of the group of waiters to which the thread belongs, plus 1; 0: none */
	uint8_t wait_group;
	bool is_cancel_requested;
	bool is_cancel_disabled;
	bool is_cancel_asynchronous;
	bool is_exiting; /* past its last cancellation point */
	/* the op that the running signal handlers interrupted; NULL if none */
	const struct engine_op *interrupted;
	struct thread_id id;
	/* link in an object's own queue of waiters (condition variables, futexes) */
	struct engine_thread *queue_next;
	uint64_t queue_ticket; /* ticket for the object in whose queue the thread waits */
	const void *queue_object;
	/* mutex.c: the most recently acquired robust mutex that the thread still holds */
	void *robust_held;
	const void *spin_held; /* spin.c: the most recently acquired spin lock */
	uint64_t spin_site;    /* spin.c: return address of that acquisition */
	uint8_t state;	       /* enum engine_thread_state */
	bool is_detached;
	bool has_joiner;
	bool was_unproductive;	    /* the last op was a failed try */
	uint8_t unproductive_count; /* consecutive failed tries at failed_address */
	/* consecutive failed tries at any objects, with no other op in between */
	uint8_t tries_in_row;
	/* since the thread was last blocked; see engine_run.free_yields */
	uint8_t free_yields_made;
	/* progress.c: ops since the thread last waited; a try has failed in the critical section */
	uint8_t ops_since_wait;
	bool has_failed_try;
	uint8_t slice;	      /* steps of a starved thread before others run (fairness.c) */
	uint8_t store_buffer; /* number of its store buffer, from 1; 0: none */
	uint16_t steps;	      /* ops performed, modulo 2^16 */
	const void *last_address;
	uint64_t last_site; /* of its last op */
	const void *failed_address;
	uint64_t last_moved; /* step of the last op, for fairness */
	uint64_t wait_ns;    /* length of the pending timed wait at its beginning */
	/* value of engine.periods_ended from which the steps of other threads may let that wait time out */
	uint64_t wait_end_period;
	bool has_timed_out; /* the thread's last timed wait, other than a sleep, reached its limit */
	uint64_t yielded_at; /* step + 1 of a yield that still delays the thread; 0: none */
	thread_name name;
	/* ordinal of its next child */
	uint16_t children;
	uint16_t held_count;
	uint32_t objects_named; /* names derived from first uses by this thread */
	/* the last child has attributes with this hash; 0: none */
	uint64_t child_attributes;
	struct thread_id child; /* the last child */
	bool has_twin;		/* equals a thread created just before or after but for its name */
	struct thread_id parent;
	uint16_t ordinal;
	uint64_t create_site;
	void *(*start)(void *);
	void *argument;
	void *result;
	void *executor_part;
	uintptr_t handle;
	char label[16];
	int kernel_id;
	/* NULL, or a word of the target that becomes 0 when the thread ends; the thread then wakes one futex
	 * waiter of the word (CLONE_CHILD_CLEARTID in clone(2)) */
	uint32_t *clear_at_end;
};
