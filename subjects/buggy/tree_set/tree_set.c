/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: tree set (an insertion finds the free place below a node and links its node there).
 *
 * Fails when: main.0 finds the free place of its key; main.1 finds the same place and links its
 * node there; main.0 overwrites it with its own node, and a key is lost.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: TreeSet threads=200 schedules=813 -DTHREADS=199
 * EXPECT-PATTERN: R1-W2-W1 right @free @hang @hang
 * EXPECT-VIOLATION: R1-W2-W1 tree_add tree_add @free @hang @hang
 * EXPECT-TIMES: TreeSet threads=200 paper=0.69/0.078/0.089/0.09/0.259 -DTHREADS=199 -DROUNDS=30
 * EXPECT-BRANCH: while ((node = atomic_load(place))) { [benign|bug]
 */
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

/* Two for each thread, none of them twice, and none of them 50. */
static int key_of(int thread, int number)
{
	const int key = ((thread * 2 + number) * 61 + 7) % 401;

	return key < 50 ? key : key + 1;
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

static void *add_keys(void *argument)
{
	const int thread = *(int *)argument;

	if (thread == 1)
		stay_apart();
	for (int i = 0; i < 2; i++)
		assert(tree_add(key_of(thread, i)));
	for (int i = 2; i < 2 * ROUNDS; i++)
		assert(tree_has(key_of(thread, i % 2)));
	return NULL;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
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
