/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: tree set (an insertion finds the free place below a node and hangs its node there).
 *
 * Fails when: main.0 finds the place free that its key belongs to; main.1 finds the same and hangs its
 * node there; main.0 hangs its own over it, and a key is not found any more.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1-W2-W1 right @free @hang @hang
 * EXPECT-VIOLATION: R1-W2-W1 tree_add tree_add @free @hang @hang
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

struct node {
	_Atomic(struct node *) left, right;
	int key;
};

static _Atomic(struct node *) root;

static struct node *node_new(int key)
{
	struct node *node = malloc(sizeof *node);

	assert(node);
	atomic_init(&node->left, NULL);
	atomic_init(&node->right, NULL);
	node->key = key;
	return node;
}

static bool tree_add(int key)
{
	struct node *const own = node_new(key);
	_Atomic(struct node *) *place = &root;
	struct node *node;

	while ((node = atomic_load(place))) { /* @free */
		if (node->key == key) {
			free(own);
			return false;
		}
		place = key < node->key ? &node->left : &node->right;
	}
	atomic_store(place, own); /* @hang */
	return true;
}

static bool tree_has(int key)
{
	struct node *node = atomic_load(&root);

	while (node && node->key != key)
		node = atomic_load(key < node->key ? &node->left : &node->right);
	return node;
}

static void *add_low(void *unused)
{
	assert(tree_add(20));
	assert(tree_add(60));
	return unused;
}

/* Steps of its own that the second thread makes first: the first argument. */
static long steps_apart;

static void stay_apart(void)
{
	static pthread_mutex_t own = PTHREAD_MUTEX_INITIALIZER;
	const long steps = steps_apart;

	for (long left = steps; left > 0; left--) {
		pthread_mutex_lock(&own);
		pthread_mutex_unlock(&own);
	}
}

static void *add_high(void *unused)
{
	stay_apart();
	assert(tree_add(80));
	assert(tree_add(30));
	return unused;
}

int main(int count, char **arguments)
{
	const int keys[] = {50, 20, 60, 80, 30};
	pthread_t low, high;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	tree_add(50);
	pthread_create(&low, NULL, add_low, NULL);
	pthread_create(&high, NULL, add_high, NULL);
	pthread_join(low, NULL);
	pthread_join(high, NULL);
	for (int i = 0; i < 5; i++)
		assert(tree_has(keys[i]));
	return 0;
}
