/*
 * n threads that are never joined, each of which acquires a common lock twice, while main ends the process: (2n)!/2^n
 * traces, because the process ends behind all of them. If a second argument is given, an exit handler removes the counters.
 */
#include "scaling.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int own[THREADS_MOST];
static int *volatile counters = own;

static void *body(void *number)
{
	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&lock);
		counters[(long)number]++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

static void take_away(void)
{
	pthread_mutex_lock(&lock);
	counters = NULL;
	pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv)
{
	const int count = thread_count(argc, argv);
	pthread_t thread;

	if (argc > 2 && atexit(take_away))
		abort();
	for (long i = 0; i < count; i++)
		if (pthread_create(&thread, NULL, body, (void *)i))
			abort();
	return 0;
}
