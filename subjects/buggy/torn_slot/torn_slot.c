/* EXPECT: abort runs<=500 needs=memory */
/*
 * A bounded ring for several producers and consumers with a sequence number per slot. A consumer frees
 * the slot before it has read the second half. Fails: a producer goes once round the ring in between.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define SLOTS 2u
#define MESSAGES 2

struct slot {
	atomic_uint sequence;
	int low, high;
};
static struct slot slots[SLOTS];
static atomic_uint head, tail;

static int push(int value)
{
	unsigned at = atomic_load(&tail);

	for (;;) {
		struct slot *slot = &slots[at % SLOTS];
		const int lead = (int)(atomic_load(&slot->sequence) - at);

		if (lead < 0)
			return 0;
		if (lead > 0)
			at = atomic_load(&tail);
		else if (atomic_compare_exchange_strong(&tail, &at, at + 1)) {
			slot->low = slot->high = value;
			atomic_store(&slot->sequence, at + 1);
			return 1;
		}
	}
}

static int pop(void)
{
	unsigned at = atomic_load(&head);

	for (;;) {
		struct slot *slot = &slots[at % SLOTS];
		const int lead = (int)(atomic_load(&slot->sequence) - (at + 1));

		if (lead < 0)
			return 0;
		if (lead > 0)
			at = atomic_load(&head);
		else if (atomic_compare_exchange_strong(&head, &at, at + 1)) {
			const int low = slot->low;

			atomic_store(&slot->sequence, at + SLOTS);
			assert(low == slot->high);
			return 1;
		}
	}
}

static void *producer(void *first)
{
	for (int i = 0; i < MESSAGES; i++)
		(void)push((int)(long)first + i);
	return NULL;
}

static void *consumer(void *unused)
{
	for (int i = 0; i < MESSAGES; i++)
		(void)pop();
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (unsigned i = 0; i < SLOTS; i++)
		atomic_init(&slots[i].sequence, i);
	pthread_create(&threads[0], NULL, producer, (void *)10);
	pthread_create(&threads[1], NULL, producer, (void *)20);
	pthread_create(&threads[2], NULL, consumer, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
