/* EXPECT: abort runs<=300 needs=memory */
/*
 * One preemption between two reads. Bindal, Bansal and Lal, "Variable and Thread Bounding for
 * Systematic Testing of Multithreaded Programs", 2012, figure 2.
 *
 * Fails when: main.0 reads a; main.1 changes it; main.0 reads it again.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 */
#include <assert.h>
#include <pthread.h>

static volatile long a;

static void *run_first(void *unused)
{
	const long before = a;
	const long after = a;

	assert(before == after);
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
