/* EXPECT: passed runs=3 */
/* Threads compute, one of them by calls to the C library, until a sleeping one makes them stop. */
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

static void *ask(void *unused)
{
	struct sched_param parameters;
	int policy;

	while (!is_over)
		MUST(pthread_getschedparam(pthread_self(), &policy, &parameters) == 0);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 2; i++)
		CHECK(pthread_create(&threads[i], NULL, compute, (void *)&rounds[i]) == 0);
	CHECK(pthread_create(&threads[2], NULL, ask, NULL) == 0);
	usleep(10000);
	is_over = 1;
	for (int i = 0; i < 3; i++)
		CHECK(pthread_join(threads[i], NULL) == 0);
	return check_status();
}
