/* EXPECT: passed runs=200 needs=memory */
/* The twin of monte_carlo: a place among the results is taken in one step. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

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
	atomic_store(&to->values[atomic_fetch_add(&to->count, 1)], value);
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

static void *simulate(void *argument)
{
	const unsigned thread = *(unsigned *)argument;
	long sum = 0;

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

int main(void)
{
	pthread_t threads[THREADS];
	unsigned numbers[THREADS];
	long expected = 0;

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
