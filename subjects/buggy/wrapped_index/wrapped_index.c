/* EXPECT: abort runs<=1000 needs=memory */
/*
 * A ring of three places, one of which stays empty. put() announces an item before it is written, but only where the
 * index wraps. It fails when main.1 reads the third item between the announcement and the write in main.0.
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
	const int next = at + 1;

	if (next < PLACES) {
		items[at] = item;
		atomic_store(&end, next);
	} else {
		atomic_store(&end, 0);
		items[at] = item;
	}
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
