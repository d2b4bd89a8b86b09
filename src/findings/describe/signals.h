/* Finds the signal that should have ended a thread's last wait, and why it did not. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "findings/describe/build.h"

/* Stands for an event index where the trace has no such event. */
#define NO_EVENT UINT64_MAX

/* Why no signal ended the wait; later ones are stronger evidence that this wait is the one that lost its signal. */
enum signal_loss {
	SIGNAL_SERVED_OTHERS, /* each signal woke a thread that used it, or preceded a test of the condition */
	SIGNAL_NEVER_SENT,
	SIGNAL_BEFORE_WAIT, /* the last signal preceded the begin of the wait */
	SIGNAL_WOKE_WRONG, /* the last signal woke a thread that found its condition false and waited again */
	SIGNAL_BEFORE_CHANGE, /* the signaller changed the condition after its last signal, and no signal followed */
	/* a signal was sent between the thread's test of its condition and its wait */
	SIGNAL_BEHIND_TEST
};

struct signal_history {
	const struct wait_edge *edge;
	const struct finding_wait *blocked; /* the same wait with its stack; NULL: unknown */
	enum signal_loss loss;
	uint64_t wait;	  /* OP_COND_WAIT: the wait begins */
	uint64_t lock;	  /* the waiter takes the mutex that the wait releases */
	uint64_t signal;  /* the signal that should have ended the wait */
	uint64_t woken;	  /* the woken thread's wait begins */
	uint64_t again;	  /* SIGNAL_WOKE_WRONG: the woken thread waits again */
	uint32_t waiting; /* threads that waited at the time of the signal */
	/* signals that woke no thread: since the test, or before a wait without a test */
	uint32_t unreceived;
	/* Accesses to one variable: the waiter's read, then the signaller's write before its signal. */
	uint64_t test, change;
	uint64_t late; /* SIGNAL_BEFORE_CHANGE: the write that no signal followed; else NO_EVENT */
};

/* Fills the history for the thread of `edge`, which waits on a condition variable. Returns false if
 * the trace lacks that wait. */
bool signal_history_find(const struct finding_source *source, const struct wait_edge *edge,
	const struct finding_wait *blocked, struct signal_history *out);

/* Returns the signaller's write of what the waiter has tested, after the last signal, or NO_EVENT if there is none. Needs
 * `edge`, `wait`, `lock` and `signal` of the history. */
uint64_t signal_history_late_change(
	const struct finding_source *source, const struct signal_history *history);

/* Returns whether the thread waits for another thread without a condition variable or a lock: for a value, a
 * semaphore, a barrier. */
bool signal_history_is_other_wait(const struct wait_edge *edge);

/*
 * Returns the index in outcome->waits of the wait whose signal was lost, and fills `out` with its
 * history. Of several candidates it chooses the one with the strongest evidence (enum signal_loss),
 * then the one that more threads depend on, then the one with the latest signal. Returns UINT32_MAX
 * if the trace lacks the end of the run, or if no wait has lost a signal because each thread tested
 * its condition after the last one. `waits` has a description of each wait of the outcome, with its
 * stack; NULL if there is none.
 */
uint32_t signal_history_culprit(const struct finding_source *source,
	const struct finding_wait *waits, struct signal_history *out);
