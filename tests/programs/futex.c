/* EXPECT: passed runs=50 */
/* The futex system call by syscall(): comparing, bitsets, requeueing, operations, locks with an owner. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define WAITERS 3

static _Atomic uint32_t word, second;
static atomic_int waiting, woken, woken_bits;

static long futex(_Atomic uint32_t *address, int operation, uint32_t value,
	const struct timespec *timeout, _Atomic uint32_t *other, uint32_t value3)
{
	return syscall(
		SYS_futex, address, operation | FUTEX_PRIVATE_FLAG, value, timeout, other, value3);
}

static long futex_two(_Atomic uint32_t *address, int operation, uint32_t value, uintptr_t value2,
	_Atomic uint32_t *other, uint32_t value3)
{
	return futex(address, operation, value, (const struct timespec *)value2, other, value3);
}

/* ---- one thread ---- */

static void check_errors(void)
{
	struct timespec soon = {.tv_nsec = 5000000};
	struct timespec invalid = {.tv_nsec = 1000000000};
	struct timespec moment = time_in(CLOCK_MONOTONIC, 5);

	CHECK(futex(&word, FUTEX_WAIT, 1, NULL, NULL, 0) == -1 && errno == EAGAIN);
	CHECK(futex(&word, FUTEX_WAIT, 0, &soon, NULL, 0) == -1 && errno == ETIMEDOUT);
	CHECK(futex(&word, FUTEX_WAIT, 0, &invalid, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex(&word, FUTEX_WAIT_BITSET, 0, &moment, NULL, 4) == -1 && errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &moment));
	moment = time_in(CLOCK_REALTIME, 5);
	CHECK(futex(&word, FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME, 0, &moment, NULL, 4) == -1 &&
		errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &moment));
	CHECK(futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex((_Atomic uint32_t *)((char *)&word + 1), FUTEX_WAKE, 1, NULL, NULL, 0) == -1 &&
		errno == EINVAL);
	CHECK(futex(NULL, FUTEX_WAIT, 1, NULL, NULL, 0) == -1 && errno == EFAULT);
	CHECK(futex(&word, 77, 0, NULL, NULL, 0) == -1 && errno == ENOSYS);
	CHECK(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) == 0);
}

/* ---- waiters ---- */

static void *wait_for_bit(void *argument)
{
	uint32_t bit = (uint32_t)(uintptr_t)argument;

	waiting++;
	while (futex(&word, FUTEX_WAIT_BITSET, 0, NULL, NULL, bit) == -1 && errno == EINTR)
		continue;
	woken_bits |= (int)bit;
	woken++;
	return NULL;
}

/* Repeats the call until `count` threads were woken or requeued, because threads arrive at any time. */
static void repeat_until(long count, long (*call)(void))
{
	while (count > 0) {
		long done = call();

		count -= done > 0 ? done : 0;
		sched_yield();
	}
}

static void begin_waiters(pthread_t threads[WAITERS])
{
	waiting = woken = woken_bits = 0;
	for (int i = 0; i < WAITERS; i++)
		MUST(pthread_create(&threads[i], NULL, wait_for_bit, (void *)(uintptr_t)(1 << i)) ==
			0);
}

static void end_waiters(pthread_t threads[WAITERS])
{
	for (int i = 0; i < WAITERS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(woken == WAITERS);
}

static long wake_second_bit(void)
{
	return futex(&word, FUTEX_WAKE_BITSET, 1, NULL, NULL, 2 | 8);
}

static long wake_one(void)
{
	return futex(&word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void check_bitsets(void)
{
	pthread_t threads[WAITERS];

	begin_waiters(threads);
	repeat_until(1, wake_second_bit);
	while (!woken)
		sched_yield();
	CHECK(woken_bits == 2);
	repeat_until(2, wake_one);
	end_waiters(threads);
}

static long requeue_one(void)
{
	return futex_two(&word, FUTEX_CMP_REQUEUE, 0, 1, &second, 0);
}

static long wake_second(void)
{
	return futex(&second, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static void check_requeue(void)
{
	pthread_t threads[WAITERS];

	begin_waiters(threads);
	CHECK(futex_two(&word, FUTEX_CMP_REQUEUE, 0, 1, &second, 5) == -1 && errno == EAGAIN);
	repeat_until(WAITERS, requeue_one);
	CHECK(woken == 0);
	CHECK(futex(&word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0) == 0);
	repeat_until(WAITERS, wake_second);
	end_waiters(threads);
}

static long wake_by_operation(void)
{
	/* Adds 1 to the second word, and wakes one waiter of it where it was above 9. */
	return futex_two(
		&word, FUTEX_WAKE_OP, 1, 1, &second, FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_GT, 9));
}

static void check_operations(void)
{
	pthread_t threads[WAITERS];

	second = 0;
	CHECK(futex_two(&word, FUTEX_WAKE_OP, 1, 1, &second,
		      FUTEX_OP(FUTEX_OP_SET, 0xff0, FUTEX_OP_CMP_EQ, 0)) == 0);
	CHECK((int32_t)second == -16);
	CHECK(futex_two(&word, FUTEX_WAKE_OP, 1, 1, &second,
		      FUTEX_OP(((uint32_t)FUTEX_OP_XOR | FUTEX_OP_OPARG_SHIFT), 3, FUTEX_OP_CMP_LT,
			      0)) == 0);
	CHECK((int32_t)second == (-16 ^ 8));
	second = 0;
	begin_waiters(threads);
	repeat_until(WAITERS, wake_by_operation);
	end_waiters(threads);
	CHECK(second >= WAITERS);
}

/* ---- locks with an owner ---- */

static int inside, most_inside, total;

static void *enter(void *unused)
{
	(void)unused;
	MUST(futex(&word, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == 0);
	inside++;
	if (inside > most_inside)
		most_inside = inside;
	sched_yield();
	inside--;
	total++;
	MUST(futex(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == 0);
	return NULL;
}

static void check_owned(void)
{
	pthread_t threads[WAITERS];

	word = 0;
	for (int i = 0; i < WAITERS; i++)
		MUST(pthread_create(&threads[i], NULL, enter, NULL) == 0);
	for (int i = 0; i < WAITERS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(most_inside == 1);
	CHECK(total == WAITERS);
	CHECK(futex(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == -1 && errno == EPERM);
	CHECK(futex(&word, FUTEX_TRYLOCK_PI, 0, NULL, NULL, 0) == 0);
	CHECK((word & FUTEX_TID_MASK) == (uint32_t)syscall(SYS_gettid));
	CHECK(futex(&word, FUTEX_LOCK_PI, 0, NULL, NULL, 0) == -1 && errno == EDEADLK);
	CHECK(futex(&word, FUTEX_UNLOCK_PI, 0, NULL, NULL, 0) == 0);
	CHECK(word == 0);
}

int main(void)
{
	check_errors();
	check_bitsets();
	check_requeue();
	check_operations();
	check_owned();
	return check_status();
}
