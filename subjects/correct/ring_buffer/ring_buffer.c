/* EXPECT: passed runs=2000 needs=memory */
/* The twin of ring_buffer: an item is announced when it is in its slot. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define SLOTS 2
#define ITEMS 3

static atomic_int slots[SLOTS];
static atomic_uint head, tail; /* next to write, next to read */

static void put(int item)
{
	while (atomic_load(&head) - atomic_load(&tail) == SLOTS)
		sched_yield();
	atomic_store(&slots[atomic_load(&head) % SLOTS], item);
	atomic_fetch_add(&head, 1);
}

static int get(void)
{
	int item;

	while (atomic_load(&head) == atomic_load(&tail))
		sched_yield();
	item = atomic_load(&slots[atomic_load(&tail) % SLOTS]);
	atomic_fetch_add(&tail, 1);
	return item;
}

static void *produce(void *unused)
{
	for (int item = 1; item <= ITEMS; item++)
		put(item);
	return unused;
}

int main(void)
{
	pthread_t producer;

	pthread_create(&producer, NULL, produce, NULL);
	for (int item = 1; item <= ITEMS; item++)
		assert(get() == item);
	pthread_join(producer, NULL);
	return 0;
}
