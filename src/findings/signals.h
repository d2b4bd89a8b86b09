/*
 * The last wait of a thread on a condition variable, and the signals of that condition variable, as the trace of a run
 * shows them: which signal should have ended the wait, and why it did not. Pure calculation.
 */
#ifndef RADDLE_FINDINGS_SIGNALS_H
#define RADDLE_FINDINGS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/build.h"

/* In place of an index in the trace: there is no such event. */
#define NO_EVENT UINT64_MAX

/* Why no signal ended the wait; later ones are stronger evidence that this wait is the one that lost its signal. */
enum signal_loss {
	SIGNAL_SERVED_OTHERS, /* each signal woke a thread that used it */
	SIGNAL_NEVER_SENT,
	SIGNAL_BEFORE_WAIT, /* the last one came before the thread began to wait */
	SIGNAL_WOKE_WRONG, /* the last one woke a thread that found its condition false and waited again */
	SIGNAL_BEHIND_TEST /* one came between the thread's test of its condition and its wait */
};

/* Indices of events in the trace, or NO_EVENT. */
struct signal_history {
	const struct wait_edge *edge;
	enum signal_loss loss;
	uint64_t wait;	  /* OP_COND_WAIT: where it began to wait */
	uint64_t lock;	  /* where it took the mutex that the wait released */
	uint64_t signal;  /* the one that should have ended the wait */
	uint64_t woken;	  /* where the thread that the signal woke had begun to wait */
	uint64_t again;	  /* SIGNAL_WOKE_WRONG: where that thread waits again */
	uint32_t waiting; /* threads that waited when the signal came */
	/* A variable that the waiter read, the signaller wrote after that and before its signal. */
	uint64_t test, change;
};

/* Of the thread of `edge`, which waits on a condition variable. False: the trace does not have its wait. */
bool signal_history_find(const struct finding_source *source, const struct wait_edge *edge,
	struct signal_history *out);

/*
 * Of the threads that wait on condition variables the one whose signal was lost: by the evidence; where that is equal,
 * the one for which more others wait (by joins and locks); then the one whose signal came last. Index in
 * outcome->waits; UINT32_MAX: none waits on a condition variable, or the trace lacks the end of the run.
 */
uint32_t signal_history_culprit(const struct finding_source *source, struct signal_history *out);

#endif
