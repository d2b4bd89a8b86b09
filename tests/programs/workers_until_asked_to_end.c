/* EXPECT: passed runs=10 */
/*
 * Workers take and release a lock until main, which sleeps or waits with a limit, makes them stop. Some
 * worker can always move; so time has to pass for main all the same, and main has to get the lock.
 */
#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define WORKERS 3

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static unsigned long rounds;
static int is_over;

static void *work(void *unused)
{
	int has_ended;

	do {
		MUST(pthread_mutex_lock(&mutex) == 0);
		rounds++;
		has_ended = is_over;
		MUST(pthread_mutex_unlock(&mutex) == 0);
	} while (!has_ended);
	return unused;
}

static void set_over(int value)
{
	MUST(pthread_mutex_lock(&mutex) == 0);
	is_over = value;
	MUST(pthread_mutex_unlock(&mutex) == 0);
}

static void run_workers(int count, int has_limit)
{
	pthread_t threads[WORKERS];
	struct timespec limit;

	set_over(0);
	for (int i = 0; i < count; i++)
		MUST(pthread_create(&threads[i], NULL, work, NULL) == 0);
	if (has_limit) {
		MUST(clock_gettime(CLOCK_REALTIME, &limit) == 0);
		limit.tv_nsec += 10000000;
		limit.tv_sec += limit.tv_nsec / 1000000000;
		limit.tv_nsec %= 1000000000;
		MUST(pthread_mutex_lock(&own) == 0);
		MUST(pthread_cond_timedwait(&never, &own, &limit) == ETIMEDOUT);
		MUST(pthread_mutex_unlock(&own) == 0);
	} else {
		MUST(usleep(500000) == 0);
	}
	set_over(1);
	for (int i = 0; i < count; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
	run_workers(1, 0);
	run_workers(WORKERS, 0);
	run_workers(2, 1);
	return check_status();
}
