/*
 * The meaning of the futex system call among the threads of this process. A futex has no memory of its
 * own for waiters: they stand in queues of the engine, by the hash of the word's address, in order of
 * arrival. The kernel promises no order, so which waiter wakes is the strategy's choice.
 *
 * Results are the kernel's: a count or 0, errors as -errno. Words are read and written as the kernel
 * would: only one thread moves, so plainly.
 */
#ifndef RADDLE_ENGINE_FUTEX_H
#define RADDLE_ENGINE_FUTEX_H

#include <stdint.h>

#include "engine/engine.h"

#define FUTEX_ANY UINT32_MAX /* the bitset of waits and wake-ups that name none */

/* FUTEX_WAIT_BITSET: 0, -EAGAIN, -ETIMEDOUT, -EINTR. bitset is not 0. Never cancelled. */
long futex_wait(const uint32_t *word, uint32_t expected, uint32_t bitset, uint64_t deadline_ns,
	uint64_t site);
/* The same, where other processes may wake, too: what they wrote ends the wait. */
struct futex_waiting {
	const uint32_t *word;
	uint32_t expected;
	uint32_t bitset;
	uint64_t deadline_ns;
	uint64_t site;
	bool is_shared;
};
long futex_wait_for(const struct futex_waiting *wait);
/* futex_waitv(): waits on several words, each as FUTEX_WAIT does. The words must live as long as the wait. */
struct futex_vector_word {
	const uint32_t *word;
	uint32_t expected;
};
struct futex_vector {
	const struct futex_vector_word *words;
	uint32_t count; /* not 0 */
	uint32_t woken; /* index of the word whose wake-up ended the wait */
	uint64_t deadline_ns;
	uint64_t site;
};
/* Returns the index of the woken word, or an error as futex_wait(). */
long futex_wait_vector(struct futex_vector *vector);
/* FUTEX_WAKE_BITSET: how many woke. */
long futex_wake(const uint32_t *word, uint32_t count, uint32_t bitset, uint64_t site);
/* The same as part of another op of the caller's, without a scheduling point. */
uint32_t futex_wake_now(const uint32_t *word, uint32_t count, uint32_t bitset);

/*
 * For other objects that are futexes to glibc: waits for a futex_wake, as an op of this kind, without
 * looking at the word. May return without one.
 */
void futex_sleep(const uint32_t *word, enum op_kind kind, uint64_t site);

/* Calls with two words. */
struct futex_pair {
	const uint32_t *word;
	uint32_t *second;
	uint32_t count;	       /* to wake on word */
	uint32_t second_count; /* to requeue to second, or to wake on it */
	uint32_t operation;    /* FUTEX_WAKE_OP: what to do to *second, and the comparison */
	uint64_t site;
};

/* FUTEX_REQUEUE, FUTEX_CMP_REQUEUE where expected is not NULL: woken and requeued; -EAGAIN. */
long futex_requeue(const struct futex_pair *pair, const uint32_t *expected);
/* FUTEX_WAKE_OP: how many woke; -ENOSYS for an unknown operation. */
long futex_wake_op(const struct futex_pair *pair);

/* FUTEX_LOCK_PI and its family, without the priorities. Owners are kernel ids. */
long futex_lock_pi(uint32_t *word, uint64_t deadline_ns, uint64_t site);
long futex_trylock_pi(uint32_t *word, uint64_t site);
long futex_unlock_pi(uint32_t *word, uint64_t site);

#endif
