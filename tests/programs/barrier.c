/* EXPECT: passed runs=50 */
/* Barriers: exactly one serial thread per round, no thread leaves before all have arrived, reuse. */
#include <errno.h>
#include <pthread.h>

#include "check.h"

#define THREADS 3
#define ROUNDS 4

static pthread_barrier_t barrier;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int arrived[ROUNDS], serial[ROUNDS], early, odd_results;

static void *march(void *unused)
{
	(void)unused;
	for (int round = 0; round < ROUNDS; round++) {
		pthread_mutex_lock(&mutex);
		arrived[round]++;
		pthread_mutex_unlock(&mutex);

		int result = pthread_barrier_wait(&barrier);

		pthread_mutex_lock(&mutex);
		serial[round] += result == PTHREAD_BARRIER_SERIAL_THREAD;
		odd_results += result != PTHREAD_BARRIER_SERIAL_THREAD && result != 0;
		early += arrived[round] != THREADS;
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void check_attributes(void)
{
	pthread_barrierattr_t attributes;
	int shared;

	CHECK(pthread_barrierattr_init(&attributes) == 0);
	CHECK(pthread_barrierattr_getpshared(&attributes, &shared) == 0);
	CHECK(shared == PTHREAD_PROCESS_PRIVATE);
	CHECK(pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED) == 0);
	CHECK(pthread_barrierattr_setpshared(&attributes, 99) == EINVAL);
	CHECK(pthread_barrierattr_destroy(&attributes) == 0);
}

int main(void)
{
	pthread_t threads[THREADS];

	CHECK(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
	CHECK(pthread_barrier_init(&barrier, NULL, 1) == 0);
	CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
	CHECK(pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD);
	CHECK(pthread_barrier_destroy(&barrier) == 0);

	CHECK(pthread_barrier_init(&barrier, NULL, THREADS) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, march, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		MUST(pthread_join(threads[i], NULL) == 0);
	for (int round = 0; round < ROUNDS; round++)
		CHECK(serial[round] == 1);
	CHECK(early == 0);
	CHECK(odd_results == 0);
	CHECK(pthread_barrier_destroy(&barrier) == 0);
	check_attributes();
	return check_status();
}
