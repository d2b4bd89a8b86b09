/* EXPECT: abort runs<=3000 needs=memory */
/*
 * A thread each in two preemptions. Bindal, Bansal and Lal, "Variable and Thread Bounding for
 * Systematic Testing of Multithreaded Programs", 2012, figure 10.
 *
 * Fails when: main.0 reads a; main.1 changes it; main.0 reads it again, then b; main.2 changes b; main.0 reads
 * it again.
 *
 * EXPECT-BOUNDS: c=2 v=2 t=3
 */
#include <assert.h>
#include <pthread.h>

static volatile long a, b;

static void *run_first(void *unused)
{
	const long before = a;
	const long after = a;
	const long other_before = b;
	const long other_after = b;

	assert(before == after || other_before == other_after);
	return unused;
}

static void *run_second(void *unused)
{
	a++;
	return unused;
}

static void *run_third(void *unused)
{
	b++;
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
