/*
 * The order that every considered schedule must keep, built once from the events of the walk.
 *
 * *Edges* are happens-before of the run: creation and joins, barriers, and operations whose order
 * cannot change here. Some edges are stricter than POSIX demands; the code explains each.
 * *Sections* are critical sections, which exclude each other in either order. Condition variables
 * and semaphores with known operations are listed, and constraints decide about them.
 *
 * All lists are read-only after order_build().
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/slots.h"
#include "model/op.h"
#include "branches/interpret/walk.h"

struct order_edge {
	struct event_id first, second;
	/* A wait and its post or signal in the run; another one may satisfy the wait. */
	bool is_usual;
	/* Barrier round plus one; 0: none. The edge holds only if the same thread arrives last. */
	uint32_t round;
};

struct order_section {
	uint64_t lock; /* address of the lock */
	uint16_t thread;
	/* Indices of events; end UINT32_MAX: the lock is not released in this run. */
	uint32_t begin, end;
	bool is_shared; /* shared by readers of a read-write lock */
};

/* An attempt to lock. In order.failures it failed: another thread held the lock at that point. */
struct order_attempt {
	uint64_t lock;
	struct event_id event;
	bool is_shared; /* an attempt to read-lock a read-write lock */
};

/* Returns whether the attempt fails during the critical section, because another thread holds the lock there. Two readers
 * of a read-write lock do not exclude each other. */
static inline bool order_excludes(
	const struct order_section *section, const struct order_attempt *attempt)
{
	return section->lock == attempt->lock && section->thread != attempt->event.thread &&
	       !(section->is_shared && attempt->is_shared);
}

/* Stands for no thread. */
#define ORDER_NOBODY UINT16_MAX

/* A read of a block's first bytes, which allocators overwrite when the block is freed. */
struct order_life {
	struct event_id read;
	struct event_id last; /* the freeing thread's last event before it frees the block */
};

#define ORDER_NONE UINT32_MAX

struct order_arrival {
	struct event_id at;
	/* Index of the event that leaves the barrier after waiting; ORDER_NONE: no wait. */
	uint32_t leave;
};

/* A round of a barrier: all threads leave when the last one has arrived. */
struct order_round {
	uint64_t address, number;
	struct order_arrival *arrivals; /* arrivals in the order of the run */
	uint32_t count;
	uint32_t last; /* arrival that was last in the run; ORDER_NONE: the round was incomplete */
	bool is_known; /* complete, and every arrival has an event */
};

struct order_use {
	struct event_id event;
	uint8_t kind; /* OP_SEM_WAIT (or TRYWAIT), OP_SEM_POST or OP_SEM_READ */
	bool is_try, has_failed;
	uint32_t value; /* value of the semaphore before the operation, in this run */
};

/* A semaphore with known initial value and operations, which decide whether a wait is enabled. */
struct order_semaphore {
	uint64_t address;
	uint32_t value; /* initial value */
	struct order_use *uses;
	uint32_t count;
};

struct order_wait {
	struct event_id at;
	struct event_id back; /* the woken thread locks its mutex again here */
	struct event_id left; /* the thread timed out here */
	bool has_back, has_left;
	uint32_t begin;	 /* number of signals before the wait in this run */
	uint32_t signal; /* signal that woke the wait in this run; ORDER_NONE: none */
};

struct order_signal {
	struct event_id at;
	bool is_broadcast;
};

/* A signal wakes one waiting thread, if any, which the schedule chooses (engine/sync/cond.c). */
struct order_condition {
	uint64_t address;
	struct order_wait *waits; /* waits and signals are in the order of the run */
	struct order_signal *signals;
	uint32_t wait_count, signal_count;
	/* All operations are known, and each signal of the run woke the first waiter. */
	bool is_reported;
	/* Few enough operations: constraints decide which signal wakes which wait. */
	bool is_known;
};

/* Possible addresses of the accesses that use one term (addresses.c). items[0]: that of the run. */
#define ADDRESSES_MOST 16

struct address_set {
	uint64_t term; /* address of a struct term; 0 in a free slot */
	uint8_t bytes; /* size of the accesses */
	uint8_t count;
	uint64_t items[ADDRESSES_MOST];
};

/*
 * Vector clocks: for each event, how many events of each thread happened before it. Consecutive
 * events of a thread mostly share a row: the column of the event's own thread is not maintained.
 */
struct order_clocks {
	uint32_t **numbers; /* [thread][index]: number of the event's row */
	uint32_t *rows;	    /* [row * thread_count + other thread] */
	uint64_t row_count;
};

/* An index of critical sections: finds those that overlap a window without a scan of millions. */
struct order_sections {
	uint32_t *
		items; /* numbers of sections, thread by thread; of each thread in the order of their begins */
	uint32_t *reach; /* largest end among this item and the earlier items of its thread */
	uint32_t *first; /* start of each thread's items, plus a final entry */
};

struct order {
	const struct walk *walk;
	uint32_t thread_count;
	struct order_edge *edges;
	uint32_t edge_count;
	struct order_section *sections;
	uint32_t section_count;
	struct order_sections by_thread;
	struct order_attempt *failures;
	uint32_t failure_count;
	struct order_life *lives;
	uint32_t life_count;
	struct order_round *rounds;
	uint32_t round_count;
	struct order_semaphore *semaphores; /* those with all operations known */
	uint32_t semaphore_count;
	struct order_condition *conditions;
	uint32_t condition_count;
	struct event_id *events; /* all events, in the order of the run */
	uint64_t event_count;
	struct order_clocks clocks;
	struct event_id *reads; /* the event that read each variable, by number */
	/* Like `clocks`, plus the accidental order of accesses and locks in this run. */
	struct order_clocks pasts;
	struct slots addresses; /* struct address_set */
	struct slots firsts;	/* struct order_first of order_memory.c */
	uint64_t *hidden;	/* words with hidden writes (order_memory.c), sorted */
	uint32_t hidden_count;
};

/* Returns NULL if the list has no condition variable. */
const struct order_condition *order_condition_at(const struct order *order, uint64_t address);
void order_build(struct order *order, const struct walk *walk);
void order_release(struct order *order);

/*
 * Events [begin, end) of each thread. Earlier events have happened as recorded, independently of
 * events in the window. Later events do not happen.
 */
struct order_window {
	uint32_t *begin, *end; /* bounds by thread */
};

/* Returns whether the op is a sleep of no length, which the engine treats as a yield. */
static inline bool order_is_pause(const struct record_op *op)
{
	return op->kind == OP_YIELD || (op->kind == OP_SLEEP && !op->address && op->argument == 1);
}

/* Returns the number of events of the thread `other` that happened before the event. */
static inline uint32_t order_clock_of(const struct order *order, const struct order_clocks *clocks,
	struct event_id event, uint16_t other)
{
	return event.thread == other
		       ? event.index + 1
		       : clocks->rows[(uint64_t)clocks->numbers[event.thread][event.index] *
					      order->thread_count +
				      other];
}

/* Returns false if no read of all these bytes precedes the run's first write. */
bool order_first_value(
	const struct order *order, uint64_t address, uint32_t bytes, uint64_t *value);
/* Returns whether happens-before orders `first` before `second`. */
bool order_is_before(const struct order *order, struct event_id first, struct event_id second);

/* Builds the index; `sections` must be in the order of the run. */
void order_sections_build(struct order_sections *index, const struct order_section *sections,
	uint32_t count, uint32_t thread_count);
void order_sections_release(struct order_sections *index);
/* Returns the first item of the thread from which on sections may end at this event or later. */
uint32_t order_sections_from(const struct order_sections *index, uint32_t thread, uint32_t event);

/* Precondition: `order->events` is filled. */
void hidden_find(struct order *order);
/* Returns whether any of these bytes, which may span two words, has hidden writes. */
bool hidden_has(const struct order *order, uint64_t address, uint32_t bytes);

/* Precondition: `order` is complete. */
void addresses_build(struct slots *addresses, const struct order *order);
/* Returns NULL if only the address of the run is possible. */
const struct address_set *addresses_find(const struct slots *addresses, const struct term *term);
/* Marks words that accesses may go to as shared. Returns nonzero if the events must be made
 * again. */
uint32_t addresses_share(struct walk *walk, const struct order *order);
/* Returns whether the address is that of a listed semaphore. */
bool order_has_semaphore(const struct order *order, uint64_t address);
