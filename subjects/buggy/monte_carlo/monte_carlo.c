/* EXPECT: abort runs<=200 needs=memory */
/*
 * A Monte Carlo simulation: all threads append results to one list, and then wait at a hand-made
 * barrier. After the program of that name in the Java Grande benchmarks.
 *
 * Fails when: main.0 reads how many results there are; main.1 appends one; main.0 stores its own in the
 * same place and writes the same number.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 results.count @place @more @more
 * EXPECT-VIOLATION: R1-W2-W1 results_add results_add @place @more @more
 * EXPECT-TIMES: Montecarlo threads=8 paper=0.48/1.94/4.74/5.21/323 -DTHREADS=7 -DWALKS=300 -DSTEPS=10000
 * EXPECT-BRANCH: while (atomic_load(&at->arrived) < THREADS) [ad hoc synchronisation|bug]
 * EXPECT-BRANCH: assert(atomic_load(&average) == expected); [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif
#ifndef WALKS
#define WALKS 2
#endif
#ifndef STEPS
#define STEPS 8
#endif

struct results {
	atomic_long count;
	atomic_long values[THREADS * WALKS];
};

struct barrier {
	atomic_int arrived;
};

static struct results results;
static struct barrier barrier;
static atomic_long average; /* times their number */

static void barrier_wait(struct barrier *at)
{
	atomic_fetch_add(&at->arrived, 1);
	while (atomic_load(&at->arrived) < THREADS)
		sched_yield();
}

static void results_add(struct results *to, long value)
{
	const long place = atomic_load(&to->count); /* @place */

	atomic_store(&to->values[place], value);
	atomic_store(&to->count, place + 1); /* @more */
}

static long walk(unsigned seed)
{
	long price = 100;

	for (int i = 0; i < STEPS; i++) {
		seed = seed * 1103515245 + 12345;
		price += (seed >> 16) % 3 - 1;
	}
	return price;
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *simulate(void *argument)
{
	const unsigned thread = *(unsigned *)argument;
	long sum = 0;

	if (thread)
		stay_apart();
	for (unsigned i = 0; i < WALKS; i++)
		results_add(&results, walk(thread * WALKS + i));
	barrier_wait(&barrier);
	if (thread == 0) {
		for (int i = 0; i < THREADS * WALKS; i++)
			sum += atomic_load(&results.values[i]);
		atomic_store(&average, sum);
	}
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	unsigned numbers[THREADS];
	long expected = 0;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (unsigned i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, simulate, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < THREADS * WALKS; i++)
		expected += walk(i);
	assert(atomic_load(&average) == expected);
	return 0;
}
