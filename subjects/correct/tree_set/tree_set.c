/* EXPECT: passed runs=500 needs=memory */
/* The twin of tree_set: a node is hung only where it is still free; if not, the search continues. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

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

	for (;;) {
		node = NULL;
		if (atomic_compare_exchange_strong(place, &node, own))
			return true;
		if (node->key == key) {
			free(own);
			return false;
		}
		place = key < node->key ? &node->left : &node->right;
	}
}

static bool tree_has(int key)
{
	struct node *node = atomic_load(&root);

	while (node && node->key != key)
		node = atomic_load(key < node->key ? &node->left : &node->right);
	return node;
}

/* Two for each thread, none of them twice, and none of them 50. */
static int key_of(int thread, int number)
{
	const int key = ((thread * 2 + number) * 61 + 7) % 401;

	return key < 50 ? key : key + 1;
}

static void *add_keys(void *argument)
{
	const int thread = *(int *)argument;

	for (int i = 0; i < 2; i++)
		assert(tree_add(key_of(thread, i)));
	for (int i = 2; i < 2 * ROUNDS; i++)
		assert(tree_has(key_of(thread, i % 2)));
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	tree_add(50);
	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		pthread_create(&threads[i], NULL, add_keys, &numbers[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < THREADS * 2; i++)
		assert(tree_has(key_of(i / 2, i % 2)));
	return 0;
}
