/* More shared variables and patterns than small tables hold; one of them matters. */
#include <pthread.h>
#include <stdlib.h>

#define VARIABLES 20

static int values[VARIABLES];
static int count;

#define TOUCH(n) values[n] += 1;

static void *work(void *unused)
{
	int seen;

	TOUCH(0)
	TOUCH(2) TOUCH(4) TOUCH(6) TOUCH(8) TOUCH(10) TOUCH(12) TOUCH(14) TOUCH(16) seen = count;
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
