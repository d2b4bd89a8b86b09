/* EXPECT: passed runs=2000 options=--memory-model=tso needs=memory */
/* The twin of hazard_stack: the announcement is sequentially consistent. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#define THREADS 2
#define ANNOUNCE_ORDER memory_order_seq_cst

struct node {
	struct node *_Atomic next;
};

static struct node nodes[2] = {{&nodes[1]}, {NULL}}, poison;
static struct node *_Atomic top = &nodes[0];
static struct node *_Atomic hazards[THREADS];

static struct node *pop(int self)
{
	struct node *seen, *next;

	do {
		do {
			seen = atomic_load(&top);
			if (!seen)
				return NULL;
			atomic_store_explicit(&hazards[self], seen, ANNOUNCE_ORDER);
		} while (seen != atomic_load(&top));
		next = atomic_load_explicit(&seen->next, memory_order_acquire);
		assert(next != &poison);
	} while (!atomic_compare_exchange_strong(&top, &seen, next));
	atomic_store_explicit(&hazards[self], NULL, memory_order_release);
	return seen;
}

static void retire(struct node *node, int self)
{
	for (int i = 0; i < THREADS; i++)
		if (i != self && atomic_load(&hazards[i]) == node)
			return; /* a full version would retry later */
	atomic_store_explicit(&node->next, &poison, memory_order_relaxed);
}

static void *use(void *argument)
{
	struct node *_Atomic *own = argument;
	const int self = (int)(own - hazards);
	struct node *node = pop(self);

	if (node)
		retire(node, self);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, use, &hazards[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
