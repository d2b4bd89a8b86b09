/* EXPECT: abort runs<=300 needs=memory */
/*
 * The second thread runs before the first. Bindal, Bansal and Lal, "Variable and Thread Bounding for
 * Systematic Testing of Multithreaded Programs", 2012, figure 1.
 *
 * Fails when: main.1 runs before main.0.
 *
 * EXPECT-BOUNDS: c=0 v=0 t=2
 */
#include <assert.h>
#include <pthread.h>

static volatile long a;

static void *run_first(void *unused)
{
	assert(a == 0);
	return unused;
}

static void *run_second(void *unused)
{
	a++;
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
