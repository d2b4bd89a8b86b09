/* EXPECT: passed runs=100 needs=memory */
/* The twin of late_producer: main says how many producers there are before it makes them. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sched.h>

#define PRODUCERS 1
#define CONSUMERS 1
#define PRODUCTS 3

static atomic_int producers; /* number of producers at work */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int stored;   /* guarded by lock */
static int consumed; /* guarded by lock */

static void *produce(void *unused)
{
	for (int i = 0; i < PRODUCTS; i++) {
		pthread_mutex_lock(&lock);
		stored++;
		pthread_mutex_unlock(&lock);
	}
	atomic_fetch_sub(&producers, 1);
	return unused;
}

static bool consume_one(void)
{
	pthread_mutex_lock(&lock);
	const bool is_there = stored > 0;

	if (is_there) {
		stored--;
		consumed++;
	}
	pthread_mutex_unlock(&lock);
	return is_there;
}

static void *consume(void *unused)
{
	bool is_last;

	do {
		is_last = atomic_load(&producers) == 0;
		while (consume_one())
			continue;
		if (!is_last)
			sched_yield();
	} while (!is_last);
	return unused;
}

int main(void)
{
	pthread_t threads[PRODUCERS + CONSUMERS];

	atomic_store(&producers, PRODUCERS);
	for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
		pthread_create(&threads[i], NULL, i < PRODUCERS ? produce : consume, NULL);
	for (int i = 0; i < PRODUCERS + CONSUMERS; i++)
		pthread_join(threads[i], NULL);
	assert(consumed == PRODUCERS * PRODUCTS);
	return 0;
}
