/* EXPECT: passed runs=3 */
/* Threads compute until one that sleeps tells them to stop, as in many a stress test. */
#include <pthread.h>
#include <unistd.h>

#include "check.h"

static volatile int is_over;
static volatile unsigned long rounds[2];

static void *compute(void *own)
{
	volatile unsigned long *const count = own;

	while (!is_over)
		++*count;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, compute, (void *)&rounds[i]) == 0);
	usleep(10000);
	is_over = 1;
	for (int i = 0; i < 2; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	return check_status();
}
