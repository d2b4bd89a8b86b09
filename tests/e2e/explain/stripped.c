/* Built without debug information and stripped. */
#include <pthread.h>
#include <stdlib.h>

static int value;

static void *work(void *unused)
{
	int seen = value;

	value = seen + 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	(void)work(NULL);		  /* returns what it was given */
	(void)pthread_join(thread, NULL); /* it exists */
	if (value != 2)
		abort();
	return 0;
}
