/* EXPECT: passed runs=20 */
/*
 * A thread that polls with a deadline: takes the lock, tests, reads the clock, until two seconds are
 * over. The thread can always move: time does not pass by idling; the loop must end all the same.
 */
#include <pthread.h>

#include "check.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int has_come;

static void *poll_until_deadline(void *unused)
{
	struct timespec deadline = time_in(CLOCK_MONOTONIC, 2000);
	int is_seen = 0;

	while (!is_seen && !is_reached(CLOCK_MONOTONIC, &deadline)) {
		pthread_mutex_lock(&lock);
		is_seen = has_come;
		pthread_mutex_unlock(&lock);
	}
	CHECK(!is_seen);
	return unused;
}

int main(void)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, poll_until_deadline, NULL) == 0);
	CHECK(pthread_join(thread, NULL) == 0);
	return check_status();
}
