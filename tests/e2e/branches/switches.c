/*
 * Built with -O2: of the switch the compiler makes a table, and the conditions that are marked depend on the schedule.
 */
#include <pthread.h>

static int state;
static volatile int seen;

__attribute__((noinline)) static int cost(int of)
{
	switch (of) { /* sensitive */
	case 0:
		return 3;
	case 1:
		return 100;
	case 2:
		return 17;
	case 3:
		return 5;
	case 4:
		return 42;
	default:
		return 9;
	}
}

static void *serve(void *unused)
{
	state = 1;
	return unused;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, NULL))
		return 1;
	if (cost(state) > 50) /* sensitive */
		seen++;
	return pthread_join(thread, NULL);
}
