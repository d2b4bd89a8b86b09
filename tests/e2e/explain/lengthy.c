/* Two threads that make 24,000 steps before each may lose the other's update. */
#include <pthread.h>
#include <stdlib.h>

#define TURNS 6000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *work(void *unused)
{
	int seen;

	for (int i = 0; i < TURNS; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	seen = count;
	count = seen + 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	(void)work(NULL);		  /* returns what it was given */
	(void)pthread_join(thread, NULL); /* it exists */
	if (count != 2)
		abort();
	return 0;
}
