/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_queue: a new node is linked with release. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define LINK_ORDER memory_order_release

struct node {
	struct node *_Atomic next;
	int value;
};

static struct node dummy, nodes[2];
static struct node *_Atomic head = &dummy, *_Atomic tail = &dummy;

static void enqueue(struct node *node, int value)
{
	struct node *last, *next;

	node->value = value;
	for (;;) {
		last = atomic_load_explicit(&tail, memory_order_acquire);
		next = atomic_load_explicit(&last->next, memory_order_acquire);
		if (next)
			atomic_compare_exchange_strong(&tail, &last, next);
		else if (atomic_compare_exchange_strong_explicit(
				 &last->next, &next, node, LINK_ORDER, memory_order_relaxed))
			break;
	}
	atomic_compare_exchange_strong(&tail, &last, node);
}

/* Returns the value of the oldest node; -1: the queue is empty. */
static int dequeue(void)
{
	for (;;) {
		struct node *first = atomic_load_explicit(&head, memory_order_acquire);
		struct node *last = atomic_load_explicit(&tail, memory_order_acquire);
		struct node *next = atomic_load_explicit(&first->next, memory_order_acquire);

		if (!next)
			return -1;
		if (first == last) {
			atomic_compare_exchange_strong(&tail, &last, next);
			continue;
		}
		if (atomic_compare_exchange_strong(&head, &first, next))
			return next->value;
	}
}

static void *produce(void *unused)
{
	enqueue(&nodes[0], 1);
	enqueue(&nodes[1], 2);
	return unused;
}

static void *consume(void *unused)
{
	int wanted = 1;

	for (int i = 0; i < 2; i++) {
		const int value = dequeue();

		assert(value == -1 || value == wanted++);
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
