/* EXPECT: abort runs<=1500 needs=memory */
/*
 * Two preemptions at two variables. Bindal, Bansal and Lal, "Variable and Thread Bounding for
 * Systematic Testing of Multithreaded Programs", 2012, figure 4.
 *
 * Fails when: main.0 reads a; main.1 sets a and b; main.0 reads a again, and then b.
 *
 * EXPECT-BOUNDS: c=2 v=2 t=2
 */
#include <assert.h>
#include <pthread.h>

static volatile long a, b;

static void *run_first(void *unused)
{
	const long before = a;
	const long after = a;
	const long other = b;

	assert(before == after || other != 1);
	return unused;
}

static void *run_second(void *unused)
{
	a = 1;
	b = 1;
	b = 0;
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
