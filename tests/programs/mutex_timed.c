/* EXPECT: passed runs=50 */
/*
 * Timed locks on both clocks: what is returned when the time is out, wrong, or not needed.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held, may_go;

static void *hold(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&mutex);
	sem_post(&is_held);
	sem_wait(&may_go);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static void check_while_held(void)
{
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	struct timespec soon = time_in(CLOCK_REALTIME, 20);
	struct timespec soon_monotonic;
	struct timespec wrong = {.tv_sec = past.tv_sec + 10, .tv_nsec = 1000000000};
	struct timespec negative = {.tv_sec = past.tv_sec + 10, .tv_nsec = -1};

	CHECK(pthread_mutex_timedlock(&mutex, &past) == ETIMEDOUT);
	CHECK(pthread_mutex_timedlock(&mutex, &wrong) == EINVAL);
	CHECK(pthread_mutex_timedlock(&mutex, &negative) == EINVAL);
	CHECK(pthread_mutex_timedlock(&mutex, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	soon_monotonic = time_in(CLOCK_MONOTONIC, 20);
	CHECK(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &soon_monotonic) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon_monotonic));
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(pthread_mutex_clocklock(&mutex, CLOCK_REALTIME, &soon) == ETIMEDOUT);
	CHECK(pthread_mutex_clocklock(&mutex, CLOCK_PROCESS_CPUTIME_ID, &soon) == EINVAL);
}

static void check_while_free(void)
{
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	struct timespec later = time_in(CLOCK_REALTIME, 60000);

	CHECK(pthread_mutex_timedlock(&mutex, &later) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
	CHECK(pthread_mutex_timedlock(&mutex, &past) == 0);
	CHECK(pthread_mutex_unlock(&mutex) == 0);
}

static void check_own(void)
{
	static pthread_mutex_t errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
	static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
	static pthread_mutex_t normal = PTHREAD_MUTEX_INITIALIZER;
	struct timespec soon = time_in(CLOCK_REALTIME, 20);

	MUST(pthread_mutex_lock(&errorcheck) == 0);
	MUST(pthread_mutex_lock(&recursive) == 0);
	MUST(pthread_mutex_lock(&normal) == 0);
	CHECK(pthread_mutex_timedlock(&errorcheck, &soon) == EDEADLK);
	CHECK(pthread_mutex_timedlock(&recursive, &soon) == 0);
	CHECK(pthread_mutex_timedlock(&normal, &soon) == ETIMEDOUT);
	MUST(pthread_mutex_unlock(&errorcheck) == 0);
	MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&recursive) == 0);
	MUST(pthread_mutex_unlock(&normal) == 0);
}

/* The holder gives the mutex up long before the deadline. */
static void check_in_time(void)
{
	struct timespec later = time_in(CLOCK_REALTIME, 60000);

	MUST(sem_post(&may_go) == 0);
	CHECK(pthread_mutex_timedlock(&mutex, &later) == 0);
	CHECK(!is_reached(CLOCK_REALTIME, &later));
	CHECK(pthread_mutex_unlock(&mutex) == 0);
}

int main(void)
{
	pthread_t holder;

	MUST(sem_init(&is_held, 0, 0) == 0 && sem_init(&may_go, 0, 0) == 0);
	MUST(pthread_create(&holder, NULL, hold, NULL) == 0);
	MUST(sem_wait(&is_held) == 0);
	check_while_held();
	check_in_time();
	MUST(pthread_join(holder, NULL) == 0);
	check_while_free();
	check_own();
	return check_status();
}
