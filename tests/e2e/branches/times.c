/*
 * A thread that sleeps, or waits with a time limit, continues when no other thread can move: its later
 * steps follow all steps that others could have made. The marked conditions depend on the schedule.
 */
#include <poll.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int slept, waited, polled, awake, seen, ends[2];

static void *rest(void *unused)
{
	struct timespec limit;
	struct pollfd end = {.fd = ends[0], .events = POLLIN};

	awake = 1;
	usleep(1000);
	slept = 1;
	pthread_mutex_lock(&mutex);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec++;
	pthread_cond_timedwait(&never, &mutex, &limit);
	pthread_mutex_unlock(&mutex);
	waited = 1;
	poll(&end, 1, 1000);
	polled = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pipe(ends) || pthread_create(&thread, NULL, rest, NULL))
		return 1;
	if (awake) /* sensitive */
		seen++;
	if (slept)
		seen++;
	if (waited)
		seen++;
	if (polled)
		seen++;
	pthread_join(thread, NULL);
	return 0;
}
