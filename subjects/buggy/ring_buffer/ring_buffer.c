/* EXPECT: abort runs<=1000 needs=memory */
/*
 * A ring buffer for one writer and one reader that announces an item before it is stored. Fails:
 * main.0 moves head; main finds the buffer not empty and reads the slot; main.0 writes the item.
 */
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
	const unsigned slot = atomic_fetch_add(&head, 1) % SLOTS;

	atomic_store(&slots[slot], item);
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
