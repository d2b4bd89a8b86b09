/* EXPECT: abort runs<=300 needs=memory */
/*
 * A thread runs after two others. Bindal, Bansal and Lal, "Variable and Thread Bounding for
 * Systematic Testing of Multithreaded Programs", 2012, figure 8.
 *
 * Fails when: main.1 and main.2 have run when main.0 reads.
 *
 * EXPECT-BOUNDS: c=0 v=0 t=3
 */
#include <assert.h>
#include <pthread.h>

static volatile long a;

static void *run_first(void *unused)
{
	assert(a != 2);
	return unused;
}

static void *run_second(void *unused)
{
	a++;
	return unused;
}

static void *run_third(void *unused)
{
	a++;
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	pthread_create(&threads[2], NULL, run_third, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
