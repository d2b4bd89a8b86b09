/* EXPECT: passed runs=50 */
/* Unnamed semaphores: values, limits, timed waits, and a transfer between threads. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>

#include "check.h"

#define ITEMS 6

static sem_t full, empty;
static int slot, sum;

static void *consume(void *unused)
{
	(void)unused;
	for (int i = 0; i < ITEMS; i++) {
		sem_wait(&full);
		sum += slot;
		sem_post(&empty);
	}
	return NULL;
}

static void check_hand_over(void)
{
	pthread_t consumer;

	MUST(sem_init(&full, 0, 0) == 0 && sem_init(&empty, 0, 1) == 0);
	MUST(pthread_create(&consumer, NULL, consume, NULL) == 0);
	for (int i = 1; i <= ITEMS; i++) {
		sem_wait(&empty);
		slot = i;
		sem_post(&full);
	}
	MUST(pthread_join(consumer, NULL) == 0);
	CHECK(sum == 21);
	CHECK(sem_destroy(&full) == 0);
	CHECK(sem_destroy(&empty) == 0);
}

static int value_of(sem_t *sem)
{
	int value;

	MUST(sem_getvalue(sem, &value) == 0);
	return value;
}

static void check_values(void)
{
	sem_t sem;

	CHECK(sem_init(&sem, 0, (unsigned)SEM_VALUE_MAX + 1u) == -1 && errno == EINVAL);
	CHECK(sem_init(&sem, 0, 2) == 0);
	CHECK(value_of(&sem) == 2);
	CHECK(sem_wait(&sem) == 0);
	CHECK(sem_trywait(&sem) == 0);
	CHECK(value_of(&sem) == 0);
	CHECK(sem_trywait(&sem) == -1 && errno == EAGAIN);
	CHECK(sem_post(&sem) == 0);
	CHECK(value_of(&sem) == 1);
	CHECK(sem_destroy(&sem) == 0);

	CHECK(sem_init(&sem, 0, SEM_VALUE_MAX) == 0);
	CHECK(sem_post(&sem) == -1 && errno == EOVERFLOW);
	CHECK(value_of(&sem) == SEM_VALUE_MAX);
	CHECK(sem_destroy(&sem) == 0);
}

static void check_timed(void)
{
	struct timespec past = time_in(CLOCK_REALTIME, -1000);
	struct timespec wrong = {.tv_sec = past.tv_sec + 10, .tv_nsec = 1000000000};
	struct timespec soon;
	sem_t sem;

	MUST(sem_init(&sem, 0, 0) == 0);
	CHECK(sem_timedwait(&sem, &past) == -1 && errno == ETIMEDOUT);
	CHECK(sem_timedwait(&sem, &wrong) == -1 && errno == EINVAL);
	soon = time_in(CLOCK_REALTIME, 20);
	CHECK(sem_timedwait(&sem, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_REALTIME, &soon));
	soon = time_in(CLOCK_MONOTONIC, 20);
	CHECK(sem_clockwait(&sem, CLOCK_MONOTONIC, &soon) == -1 && errno == ETIMEDOUT);
	CHECK(is_reached(CLOCK_MONOTONIC, &soon));
	CHECK(sem_clockwait(&sem, CLOCK_PROCESS_CPUTIME_ID, &soon) == -1 && errno == EINVAL);
	MUST(sem_post(&sem) == 0);
	CHECK(sem_timedwait(&sem, &past) == 0);
	CHECK(sem_destroy(&sem) == 0);
}

int main(void)
{
	check_values();
	check_timed();
	check_hand_over();
	return check_status();
}
