/* EXPECT: passed runs=2000 needs=memory */
/*
 * The twin of adjacent_removal: a node is first marked in its own link. A compare-and-swap of a marked link fails, and
 * each remover unlinks every marked node that it passes.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NODES 5
#define MARK 1u

static atomic_uint next[NODES]; /* twice the number of the next node, and the mark of this one */

/* Returns 0 if a link has changed, and the walk must begin again. */
static int unlink_marked(void)
{
	unsigned before = 0, at = atomic_load(&next[0]) / 2;

	while (at) {
		const unsigned link = atomic_load(&next[at]);
		unsigned expected = at * 2;

		if (!(link & MARK))
			before = at;
		else if (!atomic_compare_exchange_strong(&next[before], &expected, link & ~MARK))
			return 0;
		at = link / 2;
	}
	return 1;
}

static void *remover(void *node)
{
	atomic_fetch_or(&next[(long)node], MARK);
	while (!unlink_marked())
		;
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (unsigned i = 0; i < NODES; i++)
		atomic_init(&next[i], (i + 1) % NODES * 2);
	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, remover, (void *)(i + 1));
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned at = atomic_load(&next[0]) / 2; at; at = atomic_load(&next[at]) / 2)
		assert(at > 2);
	return 0;
}
