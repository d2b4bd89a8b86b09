/* EXPECT: passed runs=5 options=--no-virtual-time */
/*
 * A thread waits for a semaphore that nobody posts, each time for less than 20 microseconds. With real
 * clocks the limit often passes while the wait begins. Each wait ends nevertheless.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

#include "check.h"

#define WAITS 2000
#define SECOND_NS 1000000000L

static sem_t never;
static int expired;

static void *wait_shortly(void *unused)
{
	struct timespec until;

	for (long i = 0; i < WAITS; i++) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += 1 + i * 997 % 20000;
		if (until.tv_nsec >= SECOND_NS) {
			until.tv_nsec -= SECOND_NS;
			until.tv_sec++;
		}
		expired += sem_timedwait(&never, &until) == -1 && errno == ETIMEDOUT;
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	MUST(sem_init(&never, 0, 0) == 0);
	MUST(pthread_create(&thread, NULL, wait_shortly, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	CHECK(expired == WAITS);
	return check_status();
}
