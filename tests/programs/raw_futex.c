/* EXPECT: passed runs=50 */
/* Futexes through syscall(): a hand-made mutex and event, timeouts, bit sets, requeue. */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define THREADS 3
#define ROUNDS 4

static long futex(_Atomic uint32_t *word, int operation, uint32_t value,
	const struct timespec *timeout, _Atomic uint32_t *second, uint32_t third)
{
	return syscall(SYS_futex, word, operation, value, timeout, second, third);
}

/* 0 free, 1 held, 2 held and perhaps waited for. */
static _Atomic uint32_t lock_word;
static int inside, most_inside, total;

static void lock(void)
{
	uint32_t expected = 0;

	if (atomic_compare_exchange_strong(&lock_word, &expected, 1))
		return;
	while (atomic_exchange(&lock_word, 2) != 0)
		futex(&lock_word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static void unlock(void)
{
	if (atomic_exchange(&lock_word, 0) == 2)
		futex(&lock_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void *count(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++) {
		lock();
		inside++;
		if (inside > most_inside)
			most_inside = inside;
		total++;
		inside--;
		unlock();
	}
	return NULL;
}

static _Atomic uint32_t event;
static atomic_int woken;

static void *await_event(void *bits)
{
	while (atomic_load(&event) == 0)
		futex(&event, FUTEX_WAIT_BITSET_PRIVATE, 0, NULL, NULL, (uint32_t)(uintptr_t)bits);
	atomic_fetch_add(&woken, 1);
	return NULL;
}

static void check_lock(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, count, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(total == THREADS * ROUNDS);
	CHECK(most_inside == 1);
}

static void check_event(void)
{
	pthread_t threads[2];

	MUST(pthread_create(&threads[0], NULL, await_event, (void *)1) == 0);
	MUST(pthread_create(&threads[1], NULL, await_event, (void *)2) == 0);
	atomic_store(&event, 1);
	futex(&event, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, NULL, NULL, 1);
	futex(&event, FUTEX_WAKE_BITSET_PRIVATE, INT32_MAX, NULL, NULL, 2);
	for (int i = 0; i < 2; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(atomic_load(&woken) == 2);
}

static void check_answers(void)
{
	struct timespec short_time = {.tv_nsec = 20000000};
	struct timespec soon = time_in(CLOCK_MONOTONIC, 20);
	struct timespec wrong = {.tv_nsec = 1000000000};
	_Atomic uint32_t word = 5, other = 0;

	CHECK(futex(&word, FUTEX_WAIT_PRIVATE, 4, NULL, NULL, 0) == -1 && errno == EAGAIN);
	CHECK(futex(&word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) == 0);
	CHECK(futex(&word, FUTEX_WAIT_PRIVATE, 5, &wrong, NULL, 0) == -1 && errno == EINVAL);
	CHECK(futex(&word, FUTEX_WAIT_PRIVATE, 5, &short_time, NULL, 0) == -1 &&
		errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 5, &soon, NULL, UINT32_MAX) == -1 &&
		errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	CHECK(futex(&word, FUTEX_WAIT_BITSET_PRIVATE, 5, &soon, NULL, 0) == -1 && errno == EINVAL);
	CHECK(syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1L, &other, 4) == -1 &&
		errno == EAGAIN);
	CHECK(syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1L, &other, 5) == 0);
}

int main(void)
{
	check_lock();
	check_event();
	check_answers();
	return check_status();
}
