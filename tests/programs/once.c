/* EXPECT: passed runs=50 */
/*
 * pthread_once: the routine runs once, all threads wait for it, and a cancelled one is run again by
 * the next.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

#include "check.h"

#define THREADS 4

static pthread_once_t simple = PTHREAD_ONCE_INIT;
static pthread_once_t cancelled = PTHREAD_ONCE_INIT;
static int simple_runs, is_complete, saw_incomplete, cancelled_runs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t has_begun, never_posted;

static void initialise(void)
{
	simple_runs++;
	sched_yield();
	is_complete = 1;
}

static void *use(void *unused)
{
	(void)unused;
	pthread_once(&simple, initialise);
	pthread_mutex_lock(&mutex);
	saw_incomplete += !is_complete;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* The first time it waits until it is cancelled. */
static void wait_at_first(void)
{
	cancelled_runs++;
	if (cancelled_runs == 1) {
		sem_post(&has_begun);
		sem_wait(&never_posted);
	}
}

static void *enter(void *unused)
{
	(void)unused;
	pthread_once(&cancelled, wait_at_first);
	return NULL;
}

static void check_cancelled(void)
{
	pthread_t first, second;
	void *result;

	MUST(sem_init(&has_begun, 0, 0) == 0 && sem_init(&never_posted, 0, 0) == 0);
	MUST(pthread_create(&first, NULL, enter, NULL) == 0);
	MUST(sem_wait(&has_begun) == 0);
	MUST(pthread_create(&second, NULL, enter, NULL) == 0);
	MUST(pthread_cancel(first) == 0);
	MUST(pthread_join(first, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	MUST(pthread_join(second, &result) == 0);
	CHECK(result == NULL);
	CHECK(cancelled_runs == 2);
	CHECK(pthread_once(&cancelled, wait_at_first) == 0);
	CHECK(cancelled_runs == 2);
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, use, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(simple_runs == 1);
	CHECK(saw_incomplete == 0);
	check_cancelled();
	return check_status();
}
