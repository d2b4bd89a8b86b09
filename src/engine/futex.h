/* The futex system call among the threads of this process. Waiters stand in queues hashed by the
 * word's address, in order of arrival; the kernel promises no order, so the strategy chooses the
 * waiter to wake. Results are those of the kernel: a count or 0, errors as -errno. Words are
 * accessed without atomics, because only one thread moves. */
#pragma once

#include <stdint.h>

#include "engine/engine.h"

#define FUTEX_ANY UINT32_MAX

/* Futex waiters of one hash bucket in order of arrival, as sync_mark()s. */
#define ENGINE_FUTEX_QUEUES 64
struct engine_futex_queue {
	uint16_t first;
	uint16_t last;
};
/* The queues, which are part of the engine's state. */
struct engine_futex_queue *engine_futex_queues(void);

struct futex_waiting {
	const uint32_t *word;
	uint32_t expected;
	uint32_t bitset; /* nonzero */
	uint64_t deadline_ns;
	uint64_t site;
	bool is_shared; /* other processes may wake the word: a changed value ends the wait */
};
/* Performs FUTEX_WAIT_BITSET. Returns 0, -EAGAIN, -ETIMEDOUT or -EINTR. The call is no cancellation
 * point. */
long futex_wait(const struct futex_waiting *wait);
/* A word of futex_waitv(); the words must outlive the wait. */
struct futex_vector_word {
	const uint32_t *word;
	uint32_t expected;
};
struct futex_vector {
	const struct futex_vector_word *words;
	uint32_t count; /* nonzero */
	uint32_t woken;
	uint64_t deadline_ns;
	uint64_t site;
};
/* Waits on all words. Returns the index of the woken word, or an error as futex_wait(). */
long futex_wait_vector(struct futex_vector *vector);
/* Performs FUTEX_WAKE_BITSET. Returns the number of woken threads. */
long futex_wake(const uint32_t *word, uint32_t count, uint32_t bitset, uint64_t site);
/* The scheduling point before the kernel clears the word of a thread that ends, and wakes a waiter. */
void futex_clear_point(const uint32_t *word);
/* Wakes as part of another op of the caller: no scheduling point. */
uint32_t futex_wake_now(const uint32_t *word, uint32_t count, uint32_t bitset);

/* Waits for other objects that glibc implements by futexes: does not check the word; may return
 * without a wake-up. */
void futex_sleep(const uint32_t *word, enum op_kind kind, uint64_t site);

struct futex_pair {
	const uint32_t *word;
	uint32_t *second;
	uint32_t count;	       /* threads to wake on word */
	uint32_t second_count; /* threads to requeue to second, or to wake on it */
	uint32_t operation;    /* FUTEX_WAKE_OP */
	uint64_t site;
};

/* Performs FUTEX_REQUEUE, or FUTEX_CMP_REQUEUE if `expected` is not NULL. Returns the number of
 * woken and requeued threads, or -EAGAIN. */
long futex_requeue(const struct futex_pair *pair, const uint32_t *expected);
/* Performs FUTEX_WAKE_OP. Returns the number of woken threads, or -ENOSYS for an unknown
 * operation. */
long futex_wake_op(const struct futex_pair *pair);

/* FUTEX_LOCK_PI and related calls, without priority inheritance. Owners are kernel thread ids. */
long futex_lock_pi(uint32_t *word, uint64_t deadline_ns, uint64_t site);
long futex_trylock_pi(uint32_t *word, uint64_t site);
long futex_unlock_pi(uint32_t *word, uint64_t site);
