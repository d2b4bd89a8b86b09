/* EXPECT: passed runs=50 */
/*
 * Cancellation of a wait on a condition variable: the cleanup handlers run with the mutex locked,
 * and the wake-up of another thread is not lost.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int handlers_run, unlock_result;
static bool is_set;

static void leave(void *unused)
{
	(void)unused;
	handlers_run++;
	unlock_result = pthread_mutex_unlock(&mutex); /* EPERM if it were not held */
}

static void *wait_for_ever(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(leave, NULL);
	for (;;)
		pthread_cond_wait(&changed, &mutex);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *wait_with_deadline(void *unused)
{
	struct timespec later = time_in(CLOCK_REALTIME, 3600000);

	(void)unused;
	pthread_mutex_lock(&mutex);
	pthread_cleanup_push(leave, NULL);
	for (;;)
		pthread_cond_timedwait(&changed, &mutex, &later);
	pthread_cleanup_pop(0);
	return NULL;
}

static void *wait_until_set(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	while (!is_set)
		pthread_cond_wait(&changed, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void check_cancelled(void *(*start)(void *))
{
	pthread_t thread;
	void *result;

	handlers_run = 0;
	unlock_result = -1;
	MUST(pthread_create(&thread, NULL, start, NULL) == 0);
	CHECK(pthread_cancel(thread) == 0);
	CHECK(pthread_join(thread, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
	CHECK(handlers_run == 1);
	CHECK(unlock_result == 0);
	CHECK(pthread_mutex_trylock(&mutex) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void check_other_waiter(void)
{
	pthread_t cancelled, waiter;

	MUST(pthread_create(&cancelled, NULL, wait_for_ever, NULL) == 0);
	MUST(pthread_create(&waiter, NULL, wait_until_set, NULL) == 0);
	MUST(pthread_cancel(cancelled) == 0);
	MUST(pthread_join(cancelled, NULL) == 0);
	pthread_mutex_lock(&mutex);
	is_set = true;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&mutex);
	CHECK(pthread_join(waiter, NULL) == 0);
	CHECK(pthread_cond_destroy(&changed) == 0);
}

int main(void)
{
	check_cancelled(wait_for_ever);
	check_cancelled(wait_with_deadline);
	check_other_waiter();
	return check_status();
}
