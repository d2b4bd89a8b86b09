/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_stack: the push is a release. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
	struct node *next;
	int value;
};

static struct node nodes[2];
static struct node *_Atomic top;

static void *push(void *unused)
{
	for (int i = 0; i < 2; i++) {
		struct node *seen = atomic_load_explicit(&top, memory_order_relaxed);

		nodes[i].value = i + 1;
		do
			nodes[i].next = seen;
		while (!atomic_compare_exchange_weak_explicit(
			&top, &seen, &nodes[i], memory_order_release, memory_order_relaxed));
	}
	return unused;
}

static void *pop(void *unused)
{
	struct node *seen = atomic_load_explicit(&top, memory_order_acquire);

	while (seen && !atomic_compare_exchange_weak_explicit(
			       &top, &seen, seen->next, memory_order_acquire, memory_order_acquire))
		;
	if (seen)
		assert(seen->value == seen - nodes + 1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, push, NULL);
	pthread_create(&threads[1], NULL, pop, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
