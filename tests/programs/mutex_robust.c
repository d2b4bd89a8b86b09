/* EXPECT: passed runs=50 */
/*
 * Robust mutexes: an owner that ends while holding one leaves EOWNERDEAD behind, and a thread that
 * unlocks without repairing leaves ENOTRECOVERABLE.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "check.h"

static sem_t is_locked;

static void make(pthread_mutex_t *mutex, int kind)
{
	pthread_mutexattr_t attributes;

	MUST(pthread_mutexattr_init(&attributes) == 0);
	MUST(pthread_mutexattr_settype(&attributes, kind) == 0);
	MUST(pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST) == 0);
	MUST(pthread_mutex_init(mutex, &attributes) == 0);
	MUST(pthread_mutexattr_destroy(&attributes) == 0);
}

static void *lock_and_end(void *mutex)
{
	return (void *)(intptr_t)pthread_mutex_lock(mutex);
}

static void die_holding(pthread_mutex_t *mutex)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, lock_and_end, mutex) == 0);
	MUST(pthread_join(thread, NULL) == 0);
}

static void *lock_tell_and_exit(void *mutex)
{
	pthread_mutex_lock(mutex);
	sem_post(&is_locked);
	pthread_exit(NULL);
}

static void check_repair(int kind)
{
	pthread_mutex_t mutex;

	make(&mutex, kind);
	CHECK(pthread_mutex_consistent(&mutex) == EINVAL);
	die_holding(&mutex);
	CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);

	die_holding(&mutex);
	CHECK(pthread_mutex_trylock(&mutex) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == EPERM);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

static void check_not_recoverable(void)
{
	pthread_mutex_t mutex;
	struct timespec soon = time_in(CLOCK_REALTIME, 5);

	make(&mutex, PTHREAD_MUTEX_NORMAL);
	die_holding(&mutex);
	CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_lock(&mutex) == ENOTRECOVERABLE);
	CHECK(pthread_mutex_timedlock(&mutex, &soon) == ENOTRECOVERABLE);
	/* Last: glibc's trylock leaves such a mutex locked. */
	CHECK(pthread_mutex_trylock(&mutex) == ENOTRECOVERABLE);
	CHECK(pthread_mutex_destroy(&mutex) == 0);
}

/* The owner ends while a thread may already be waiting. */
static void check_waiter(void)
{
	pthread_mutex_t mutex;
	pthread_t owner;

	make(&mutex, PTHREAD_MUTEX_NORMAL);
	MUST(sem_init(&is_locked, 0, 0) == 0);
	MUST(pthread_create(&owner, NULL, lock_tell_and_exit, &mutex) == 0);
	MUST(sem_wait(&is_locked) == 0);
	CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	CHECK(pthread_mutex_consistent(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_join(owner, NULL) == 0);
	MUST(pthread_mutex_destroy(&mutex) == 0);
	MUST(sem_destroy(&is_locked) == 0);
}

static void *wait_and_end(void *mutex)
{
	pthread_cond_t nobody_signals = PTHREAD_COND_INITIALIZER;
	struct timespec soon = time_in(CLOCK_REALTIME, 5);
	int result = 0;

	pthread_mutex_lock(mutex);
	while (result == 0)
		result = pthread_cond_timedwait(&nobody_signals, mutex, &soon);
	return (void *)(intptr_t)result;
}

/* A wait on a condition variable has the mutex again when it times out. */
static void check_after_wait(void)
{
	pthread_mutex_t mutex;
	pthread_t thread;
	void *result;

	make(&mutex, PTHREAD_MUTEX_ERRORCHECK);
	MUST(pthread_create(&thread, NULL, wait_and_end, &mutex) == 0);
	MUST(pthread_join(thread, &result) == 0);
	CHECK((int)(intptr_t)result == ETIMEDOUT);
	CHECK(pthread_mutex_lock(&mutex) == EOWNERDEAD);
	CHECK(pthread_mutex_lock(&mutex) == EDEADLK);
	CHECK(pthread_mutex_consistent(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	MUST(pthread_mutex_destroy(&mutex) == 0);
}

int main(void)
{
	check_repair(PTHREAD_MUTEX_NORMAL);
	check_repair(PTHREAD_MUTEX_RECURSIVE);
	check_repair(PTHREAD_MUTEX_ERRORCHECK);
	check_not_recoverable();
	check_waiter();
	check_after_wait();
	return check_status();
}
