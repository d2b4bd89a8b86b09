/* EXPECT: abort runs<=1000 needs=memory */
/*
 * A queue after Michael and Scott whose nodes return to a pool, without versions. Fails: an enqueuer
 * has read the last node and that it has no successor; the node is dequeued and returned; the enqueuer
 * links its node to one that is in no queue.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NODES 6
#define THREADS 3
#define ROUNDS 2
#define NONE (-1)

struct node {
	atomic_int next, value, is_free;
};
static struct node nodes[NODES];
static atomic_int head, tail, pushed, popped;

static int new_node(void)
{
	for (int i = 0; i < NODES; i++)
		if (atomic_load(&nodes[i].is_free) && atomic_exchange(&nodes[i].is_free, 0))
			return i;
	return NONE;
}

static void push(int value)
{
	const int node = new_node();

	if (node == NONE)
		return;
	atomic_store(&nodes[node].value, value);
	atomic_store(&nodes[node].next, NONE);
	for (;;) {
		int last = atomic_load(&tail);
		int next = atomic_load(&nodes[last].next);

		if (next != NONE) {
			atomic_compare_exchange_strong(&tail, &last, next);
		} else if (atomic_compare_exchange_strong(&nodes[last].next, &next, node)) {
			atomic_compare_exchange_strong(&tail, &last, node);
			break;
		}
	}
	atomic_fetch_add(&pushed, 1);
}

static void pop(void)
{
	int first = atomic_load(&head);

	for (;;) {
		int last = atomic_load(&tail);
		int next = atomic_load(&nodes[first].next);

		if (next == NONE)
			return;
		if (first == last)
			atomic_compare_exchange_strong(&tail, &last, next);
		if (atomic_compare_exchange_strong(&head, &first, next))
			break;
	}
	atomic_store(&nodes[first].next, NONE);
	atomic_store(&nodes[first].is_free, 1);
	atomic_fetch_add(&popped, 1);
}

static void *work(void *number)
{
	for (int i = 0; i < ROUNDS; i++) {
		push((int)(long)number * ROUNDS + i);
		pop();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int left = 0;

	for (int i = 1; i < NODES; i++)
		nodes[i].is_free = 1;
	nodes[0].next = NONE;
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int at = head; left <= NODES && nodes[at].next != NONE; at = nodes[at].next)
		left++;
	assert(left == pushed - popped);
	return 0;
}
