/* EXPECT: passed runs=50 */
/*
 * Condition variables: signal, broadcast, timed waits on both clocks, and what they do to the mutex.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>

#include "check.h"

#define WAITERS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int waiting, tickets, served;

static void *wait_for_ticket(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	waiting++;
	while (tickets == 0)
		pthread_cond_wait(&changed, &mutex);
	tickets--;
	served++;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void serve(int count, int by_broadcast)
{
	pthread_mutex_lock(&mutex);
	tickets += count;
	if (by_broadcast)
		pthread_cond_broadcast(&changed);
	else
		for (int i = 0; i < count; i++)
			pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
}

static void check_wake_ups(int by_broadcast)
{
	pthread_t threads[WAITERS];

	waiting = tickets = served = 0;
	for (int i = 0; i < WAITERS; i++)
		MUST(pthread_create(&threads[i], NULL, wait_for_ticket, NULL) == 0);
	serve(1, 0);
	serve(WAITERS - 1, by_broadcast);
	for (int i = 0; i < WAITERS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(waiting == WAITERS);
	CHECK(served == WAITERS);
	CHECK(tickets == 0);
}

static void *try_lock(void *wanted)
{
	int result = pthread_mutex_trylock(wanted);

	if (result == 0)
		pthread_mutex_unlock(wanted);
	return (void *)(intptr_t)result;
}

static int is_held(pthread_mutex_t *wanted)
{
	pthread_t thread;
	void *result;

	MUST(pthread_create(&thread, NULL, try_lock, wanted) == 0);
	MUST(pthread_join(thread, &result) == 0);
	return (int)(intptr_t)result == EBUSY;
}

/* Waits until the deadline, despite spurious wake-ups. */
static int wait_until(pthread_cond_t *cond, const struct timespec *deadline)
{
	int result = 0;

	while (result == 0)
		result = pthread_cond_timedwait(cond, &mutex, deadline);
	return result;
}

static int wait_until_on(pthread_cond_t *cond, clockid_t clock, const struct timespec *deadline)
{
	int result = 0;

	while (result == 0)
		result = pthread_cond_clockwait(cond, &mutex, clock, deadline);
	return result;
}

static void check_timeouts(void)
{
	pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	struct timespec wrong = {.tv_sec = past.tv_sec + 10, .tv_nsec = 1000000000};
	struct timespec soon;

	MUST(pthread_mutex_lock(&mutex) == 0);
	CHECK(pthread_cond_timedwait(&cond, &mutex, &wrong) == EINVAL);
	CHECK(wait_until(&cond, &past) == ETIMEDOUT);
	CHECK(is_held(&mutex));
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(wait_until(&cond, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	CHECK(is_held(&mutex));
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(wait_until_on(&cond, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(wait_until_on(&cond, CLOCK_REALTIME, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	CHECK(pthread_cond_clockwait(&cond, &mutex, CLOCK_PROCESS_CPUTIME_ID, &soon) == EINVAL);
	MUST(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_cond_destroy(&cond) == 0);
}

static void check_attributes(void)
{
	pthread_condattr_t attributes;
	pthread_cond_t cond;
	struct timespec soon;
	clockid_t clock;
	int shared;

	CHECK(pthread_condattr_init(&attributes) == 0);
	CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_REALTIME);
	CHECK(pthread_condattr_getpshared(&attributes, &shared) == 0);
	CHECK(shared == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_condattr_setclock(&attributes, CLOCK_PROCESS_CPUTIME_ID) == EINVAL);
	CHECK(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
	CHECK(pthread_condattr_getclock(&attributes, &clock) == 0 && clock == CLOCK_MONOTONIC);
	CHECK(pthread_cond_init(&cond, &attributes) == 0);
	CHECK(pthread_condattr_destroy(&attributes) == 0);

	soon = time_in(CLOCK_MONOTONIC, 20);
	MUST(pthread_mutex_lock(&mutex) == 0);
	CHECK(wait_until(&cond, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	MUST(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_cond_destroy(&cond) == 0);
}

static void check_mutex_not_held(void)
{
	static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

	CHECK(pthread_cond_wait(&cond, &errorcheck) == EPERM);
	CHECK(pthread_cond_signal(&cond) == 0);
	CHECK(pthread_cond_broadcast(&cond) == 0);
}

int main(void)
{
	check_wake_ups(0);
	check_wake_ups(1);
	check_timeouts();
	check_attributes();
	check_mutex_not_held();
	return check_status();
}
