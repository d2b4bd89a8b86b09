/* EXPECT: abort runs<=500 needs=memory */
/*
 * A linked list without locks: a node is removed by one compare-and-swap of its predecessor's link. Fails: main.0 reads
 * the successor of node 1, main.1 removes this successor by changing node 1, and main.0 then links it again.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NODES 5 /* node 0 is the head, and the last node's link is 0 */

static atomic_uint next[NODES];

static void remove_node(unsigned node)
{
	for (;;) {
		unsigned before = 0, at = atomic_load(&next[0]);

		while (at && at != node) {
			before = at;
			at = atomic_load(&next[at]);
		}
		if (!at || atomic_compare_exchange_strong(
				   &next[before], &at, atomic_load(&next[node])))
			return;
	}
}

static void *remover(void *node)
{
	remove_node((unsigned)(long)node);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (unsigned i = 0; i < NODES; i++)
		atomic_init(&next[i], (i + 1) % NODES);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, remover, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned at = atomic_load(&next[0]); at; at = atomic_load(&next[at]))
		assert(at > 2);
	return 0;
}
