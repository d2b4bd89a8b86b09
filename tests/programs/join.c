/* EXPECT: passed runs=50 */
/* Joining in all its variants, and detaching. */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

#include "check.h"

static sem_t may_end, has_ended;

static void *wait_and_return(void *value)
{
	sem_wait(&may_end);
	return value;
}

static void *return_value(void *value)
{
	return value;
}

static void *exit_with(void *value)
{
	pthread_exit(value);
}

static void *report_end(void *unused)
{
	sem_wait(&may_end);
	sem_post(&has_ended);
	return unused;
}

static pthread_t begin(void *(*start)(void *), intptr_t value)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, start, (void *)value) == 0);
	return thread;
}

static void check_values(void)
{
	void *result;

	CHECK(pthread_join(begin(return_value, 17), &result) == 0);
	CHECK((intptr_t)result == 17);
	CHECK(pthread_join(begin(exit_with, 18), &result) == 0);
	CHECK((intptr_t)result == 18);
	CHECK(pthread_join(begin(return_value, 19), NULL) == 0);
}

static void check_try_and_timed(void)
{
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	struct timespec later = time_in(CLOCK_REALTIME, 60000);
	struct timespec soon;
	pthread_t thread = begin(wait_and_return, 20);
	void *result = NULL;

	CHECK(pthread_tryjoin_np(thread, &result) == EBUSY);
	CHECK(pthread_timedjoin_np(thread, &result, &past) == ETIMEDOUT);
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(pthread_timedjoin_np(thread, &result, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &soon) == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	CHECK(result == NULL);
	MUST(sem_post(&may_end) == 0);
	CHECK(pthread_timedjoin_np(thread, &result, &later) == 0);
	CHECK((intptr_t)result == 20);

	thread = begin(wait_and_return, 21);
	MUST(sem_post(&may_end) == 0);
	while (pthread_tryjoin_np(thread, &result) == EBUSY) {
		struct timespec pause = {.tv_nsec = 1000000};

		nanosleep(&pause, NULL);
	}
	CHECK((intptr_t)result == 21);

	thread = begin(wait_and_return, 22);
	MUST(sem_post(&may_end) == 0);
	later = time_in(CLOCK_MONOTONIC, 60000);
	CHECK(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &later) == 0);
	CHECK((intptr_t)result == 22);
}

static void check_detached(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	int state;

	thread = begin(report_end, 0);
	CHECK(pthread_detach(thread) == 0);
	CHECK(pthread_detach(thread) == EINVAL);
	CHECK(pthread_join(thread, NULL) == EINVAL);
	MUST(sem_post(&may_end) == 0);
	CHECK(sem_wait(&has_ended) == 0);

	MUST(pthread_attr_init(&attributes) == 0);
	CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
	CHECK(pthread_attr_getdetachstate(&attributes, &state) == 0);
	CHECK(state == PTHREAD_CREATE_DETACHED);
	MUST(pthread_create(&thread, &attributes, report_end, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == EINVAL);
	MUST(sem_post(&may_end) == 0);
	CHECK(sem_wait(&has_ended) == 0);
	MUST(pthread_attr_destroy(&attributes) == 0);
}

static void *join_given(void *thread)
{
	return (void *)(intptr_t)pthread_join(*(pthread_t *)thread, NULL);
}

/* Two that join each other are no circle where one of them is cancelled. */
static void check_cancelled_joiner(void)
{
	pthread_t self = pthread_self();
	pthread_t joiner;
	void *result;

	MUST(pthread_create(&joiner, NULL, join_given, &self) == 0);
	MUST(pthread_cancel(joiner) == 0);
	CHECK(pthread_join(joiner, &result) == 0);
	CHECK(result == PTHREAD_CANCELED);
}

/* A thread may be joined by any other, not only by its creator. */
static void check_joined_by_sibling(void)
{
	pthread_t sibling = begin(wait_and_return, 0);
	pthread_t joiner;
	void *result;

	MUST(pthread_create(&joiner, NULL, join_given, &sibling) == 0);
	MUST(sem_post(&may_end) == 0);
	CHECK(pthread_join(joiner, &result) == 0);
	CHECK((intptr_t)result == 0);
}

int main(void)
{
	MUST(sem_init(&may_end, 0, 0) == 0 && sem_init(&has_ended, 0, 0) == 0);
	check_values();
	check_try_and_timed();
	check_detached();
	check_joined_by_sibling();
	check_cancelled_joiner();
	return check_status();
}
