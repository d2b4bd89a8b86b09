/* Fails in every run. */
#include <pthread.h>
#include <stdlib.h>

static int value;

static void *work(void *unused)
{
	value++;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work, NULL))
		return 2;
	value++;
	(void)pthread_join(thread, NULL); /* it exists */
	abort();
}
