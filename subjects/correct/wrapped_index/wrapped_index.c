/* EXPECT: passed runs=3000 needs=memory */
/*
 * The corrected twin of wrapped_index: put() writes each item before it announces it, also where the index wraps.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define PLACES 3
#define ITEMS 4
#define TRIES 20 /* then the thread gives up, so that every schedule ends */

static atomic_int first, end;
static int items[PLACES];

static void put(int at, int item)
{
	items[at] = item;
	atomic_store(&end, (at + 1) % PLACES);
}

static void *produce(void *unused)
{
	(void)unused;
	for (int item = 1; item <= ITEMS; item++) {
		const int at = atomic_load(&end);

		for (int tries = 0; (at + 1) % PLACES == atomic_load(&first); tries++) {
			if (tries == TRIES)
				return NULL;
			sched_yield();
		}
		put(at, item);
	}
	return NULL;
}

static void *consume(void *unused)
{
	(void)unused;
	for (int item = 1; item <= ITEMS; item++) {
		const int at = atomic_load(&first);

		for (int tries = 0; at == atomic_load(&end); tries++) {
			if (tries == TRIES)
				return NULL;
			sched_yield();
		}
		if (items[at] != item)
			abort();
		atomic_store(&first, (at + 1) % PLACES);
	}
	return NULL;
}

int main(void)
{
	pthread_t producer, consumer;

	pthread_create(&producer, NULL, produce, NULL);
	pthread_create(&consumer, NULL, consume, NULL);
	pthread_join(producer, NULL);
	pthread_join(consumer, NULL);
	return 0;
}
