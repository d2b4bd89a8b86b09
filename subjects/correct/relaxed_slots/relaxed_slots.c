/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_slots: a producer stores the turn with release. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define SLOTS 2u
#define THREADS 2
#define PUT_ORDER memory_order_release

struct slot {
	atomic_uint turn; /* even: empty, odd: full */
	int item;
};

static struct slot slots[SLOTS];
static atomic_uint head, tail;
static atomic_int was_taken[THREADS];

static void put(int item)
{
	const unsigned ticket = atomic_fetch_add_explicit(&head, 1, memory_order_relaxed);
	struct slot *slot = &slots[ticket % SLOTS];
	const unsigned turn = 2 * (ticket / SLOTS);

	while (atomic_load_explicit(&slot->turn, memory_order_acquire) != turn)
		;
	slot->item = item;
	atomic_store_explicit(&slot->turn, turn + 1, PUT_ORDER);
}

static int take(void)
{
	const unsigned ticket = atomic_fetch_add_explicit(&tail, 1, memory_order_relaxed);
	struct slot *slot = &slots[ticket % SLOTS];
	const unsigned turn = 2 * (ticket / SLOTS) + 1;
	int item;

	while (atomic_load_explicit(&slot->turn, memory_order_acquire) != turn)
		;
	item = slot->item;
	atomic_store_explicit(&slot->turn, turn + 1, memory_order_release);
	return item;
}

static void *produce(void *argument)
{
	put((int)((atomic_int *)argument - was_taken) + 1);
	return NULL;
}

static void *consume(void *unused)
{
	const int item = take();

	assert(item > 0 && !atomic_exchange(&was_taken[item - 1], 1));
	return unused;
}

int main(void)
{
	pthread_t threads[2 * THREADS];

	for (int i = 0; i < THREADS; i++) {
		pthread_create(&threads[i], NULL, produce, &was_taken[i]);
		pthread_create(&threads[THREADS + i], NULL, consume, NULL);
	}
	for (int i = 0; i < 2 * THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
