/*
 * Happens-before order that holds in every run of a program. Thread creation and join alone order
 * threads permanently. The thread that gets a lock first, or receives a signal, depends on the
 * schedule.
 *
 * Creations and joins divide a thread's run into *epochs*. All events of one epoch have the same
 * order to the events of other threads. An analysis therefore stores the epoch of an event instead
 * of a vector clock.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

struct thread_order; /* The order of one run */

struct epoch {
	const struct thread_order *order;
	uint32_t thread; /* index in its run */
	uint32_t number; /* number among the thread's epochs, from 1 */
	/* By thread index: the thread's last epoch that ends before this one begins; 0: none. */
	uint32_t *before;
};

/* Analyses a run. `run` and the data it points to must outlive the result. */
struct thread_order *thread_order_new(const struct trace_run *run);
void thread_order_free(struct thread_order *order);

void thread_order_add(struct thread_order *order, const struct trace_event *event);
/*
 * Replaces thread_order_add(): adds the same order, and that of signals, barriers, semaphores and
 * once controls.
 */
void thread_order_add_waits(struct thread_order *order, const struct trace_event *event);
/* Returns whether `first` ends before `second` begins. Both must belong to one run. */
bool epoch_is_before(const struct epoch *first, const struct epoch *second);
/* Returns the current epoch of the thread, which lives as long as the order. */
const struct epoch *thread_order_epoch(struct thread_order *order, uint32_t thread);

uint32_t thread_order_count(const struct thread_order *order);
/* Returns the index of a thread; THREAD_CAPACITY: no such thread in the run. */
uint32_t thread_order_find(const struct thread_order *order, thread_name name);
thread_name thread_order_name(const struct thread_order *order, uint32_t thread);
/* Returns the thread that this event joined; THREAD_CAPACITY: unknown. */
uint32_t thread_order_joined(const struct thread_order *order, const struct trace_event *event);

/* Returns whether two threads can be in these epochs at the same time. Exact within a run, else an
 * over-approximation. */
bool epochs_overlap(const struct epoch *first, const struct epoch *second);
