/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_ring: the producer stores the head with release. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define SLOTS 2
#define ITEMS 3

static int slots[SLOTS];
static atomic_uint head, tail;

static void *produce(void *unused)
{
	for (int item = 1; item <= ITEMS; item++) {
		const unsigned at = atomic_load_explicit(&head, memory_order_relaxed);

		while (at - atomic_load_explicit(&tail, memory_order_acquire) == SLOTS)
			;
		slots[at % SLOTS] = item;
		atomic_store_explicit(&head, at + 1, memory_order_release);
	}
	return unused;
}

static void *consume(void *unused)
{
	for (int item = 1; item <= ITEMS; item++) {
		const unsigned at = atomic_load_explicit(&tail, memory_order_relaxed);

		while (atomic_load_explicit(&head, memory_order_acquire) == at)
			;
		assert(slots[at % SLOTS] == item);
		atomic_store_explicit(&tail, at + 1, memory_order_release);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, produce, NULL);
	pthread_create(&threads[1], NULL, consume, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
