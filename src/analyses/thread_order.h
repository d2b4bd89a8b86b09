/*
 * What happens before what in every run of a program: only the creation of a thread and the wait for
 * its end order threads for good; which lock was free first, or who was signalled, is an accident.
 *
 * A thread's run is cut into *epochs* by its creations and joins. Events of one epoch are ordered alike
 * against all other threads, so an epoch is all that has to be kept of an event.
 */
#ifndef RADDLE_ANALYSES_THREAD_ORDER_H
#define RADDLE_ANALYSES_THREAD_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/trace.h"

struct thread_order; /* of one run */

struct epoch {
	const struct thread_order *order;
	uint32_t thread; /* index in its run */
	uint32_t number; /* of the thread's epochs, from 1 */
	/* By thread: the last epoch of it that is over before this one begins; 0: none is. */
	uint32_t *before;
};

/* `threads` and what it points to must outlive it. */
struct thread_order *thread_order_new(const struct trace_run *run);
void thread_order_free(struct thread_order *order);

/* Events of the run in their order. */
void thread_order_add(struct thread_order *order, const struct trace_event *event);
/*
 * In place of it, where what one thread waits for another to do orders them as well: signals and those
 * whom they may have woken, arrivals at a barrier and departures, posts of a semaphore and waits for
 * it, initialisation that is done once. Locks order nothing.
 */
void thread_order_add_waits(struct thread_order *order, const struct trace_event *event);
/* Is all of `first` over before `second` begins? Of epochs of one run. */
bool epoch_is_before(const struct epoch *first, const struct epoch *second);
/* The epoch that the thread is in; lives as long as the order. */
const struct epoch *thread_order_epoch(struct thread_order *order, uint32_t thread);

uint32_t thread_order_count(const struct thread_order *order);
/* THREAD_CAPACITY: no such thread in the run. */
uint32_t thread_order_find(const struct thread_order *order, thread_name name);
thread_name thread_order_name(const struct thread_order *order, uint32_t thread);
/* The thread whose end this event waited for; THREAD_CAPACITY: not known. */
uint32_t thread_order_joined(const struct thread_order *order, const struct trace_event *event);

/*
 * Can two threads be in these epochs at the same time? Of epochs of one run it is known. Of epochs of
 * different runs it is asked, in either run, whether the epoch can meet the other thread at all.
 */
bool epochs_overlap(const struct epoch *first, const struct epoch *second);

#endif
