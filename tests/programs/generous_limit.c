/* EXPECT: passed runs=20 */
/*
 * One thread sleeps with a lock, another waits for the lock with a much longer limit, and a third
 * reads the clock and tests again and again whether they are done. However long the third one runs,
 * the sleeper continues when its sleep is over, and before the limit is reached.
 */
#include <pthread.h>
#include <time.h>

#include "check.h"

static pthread_mutex_t slow = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t begun;
static int result = -1;
static int is_complete;

static void *sleep_with_lock(void *unused)
{
	const struct timespec while_others_wait = {.tv_nsec = 100000000};

	MUST(pthread_mutex_lock(&slow) == 0);
	(void)pthread_barrier_wait(&begun);
	MUST(nanosleep(&while_others_wait, NULL) == 0);
	MUST(pthread_mutex_unlock(&slow) == 0);
	return unused;
}

static void *wait_with_limit(void *unused)
{
	struct timespec limit;
	int error;

	(void)pthread_barrier_wait(&begun);
	MUST(clock_gettime(CLOCK_REALTIME, &limit) == 0);
	limit.tv_sec += 600;
	error = pthread_mutex_timedlock(&slow, &limit);
	MUST(pthread_mutex_lock(&mutex) == 0);
	result = error;
	is_complete = 1;
	MUST(pthread_mutex_unlock(&mutex) == 0);
	return unused;
}

static void *look(void *unused)
{
	struct timespec now;
	int is_over = 0;

	(void)pthread_barrier_wait(&begun);
	while (!is_over) {
		MUST(pthread_mutex_lock(&mutex) == 0);
		is_over = is_complete;
		MUST(pthread_mutex_unlock(&mutex) == 0);
		MUST(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
	}
	return unused;
}

int main(void)
{
	static void *(*const work[])(void *) = {look, sleep_with_lock, wait_with_limit};
	pthread_t threads[3];

	MUST(pthread_barrier_init(&begun, NULL, 3) == 0);
	for (int i = 0; i < 3; i++)
		MUST(pthread_create(&threads[i], NULL, work[i], NULL) == 0);
	for (int i = 0; i < 3; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	CHECK(result == 0);
	return check_status();
}
