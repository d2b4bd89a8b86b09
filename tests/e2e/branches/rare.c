/*
 * A long run: a thread sees a value that is written once only if it is preempted for 200,000 steps of the other thread. The conditions that are marked
 * depend on the schedule.
 */
#include <pthread.h>

#define ROUNDS 85000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int phase, level, mode, stamp;
static volatile int seen;

static void *serve(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		if (i == 40000)
			phase = 1;
		if (i == 60000)
			level = 1;
		if (i == ROUNDS - 1)
			mode = 1;
		stamp = i;
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, serve, NULL);
	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		if (phase == 1) /* sensitive */
			seen = 1;
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		if (level == 1) /* sensitive */
			seen = 2;
		pthread_mutex_unlock(&lock);
		pthread_mutex_lock(&lock);
		if (mode == 1) /* sensitive */
			seen = 3;
		pthread_mutex_unlock(&lock);
	}
	pthread_join(thread, NULL);
	return 0;
}
