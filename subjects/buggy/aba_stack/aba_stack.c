/* EXPECT: abort runs<=2000000 needs=memory */
/*
 * A lock-free stack whose version counts only to 2 before it begins anew. Fails: a thread reads top
 * and the next node behind it; the others take two nodes and return the first, and continue until the
 * version is the same again; the thread's exchange succeeds and puts a node on top that has an owner.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define NODES 3
#define NONE 0xffu

/* A free list of node numbers: node in the low byte, version above. */
static atomic_uint top;
static atomic_uint next[NODES];
static atomic_int owners[NODES];

static unsigned version_after(unsigned head)
{
	return ((head >> 8) + 1) % 2;
}

static unsigned pop(void)
{
	unsigned head = atomic_load(&top);

	for (;;) {
		const unsigned node = head & 0xff;

		if (node == NONE)
			return NONE;
		if (atomic_compare_exchange_strong(
			    &top, &head, atomic_load(&next[node]) | version_after(head) << 8))
			return node;
	}
}

static void push(unsigned node)
{
	unsigned head = atomic_load(&top);

	do
		atomic_store(&next[node], head & 0xff);
	while (!atomic_compare_exchange_strong(&top, &head, node | version_after(head) << 8));
}

static void own(unsigned node)
{
	assert(atomic_fetch_add(&owners[node], 1) == 0);
}

static void disown(unsigned node)
{
	atomic_fetch_sub(&owners[node], 1);
	push(node);
}

/* Takes two and gives the first back. */
static void *take_two(void *unused)
{
	const unsigned first = pop();
	unsigned second;

	if (first == NONE)
		return unused;
	own(first);
	second = pop();
	if (second != NONE)
		own(second);
	disown(first);
	return unused;
}

static void *take_one(void *unused)
{
	for (int i = 0; i < 2; i++) {
		const unsigned node = pop();

		if (node != NONE)
			own(node);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (unsigned i = 0; i < NODES; i++)
		atomic_init(&next[i], i + 1 < NODES ? i + 1 : NONE);
	pthread_create(&threads[0], NULL, take_two, NULL);
	pthread_create(&threads[1], NULL, take_two, NULL);
	take_one(NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
