/* EXPECT: abort runs<=200 needs=memory */
/*
 * Pattern: linked list (an append finds the last node and links the new one behind it; only the
 * count has a lock).
 *
 * Fails when: main.0 takes the list's last node; main.1 appends its own and is the last; main.0 hangs
 * its node behind the old last one, over main.1's, and becomes the last. The list leads past a node.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-TABLE: LinkedList threads=3 schedules=23
 * EXPECT-PATTERN: R1-W2-W1 list.last @last @append @append
 * EXPECT-VIOLATION: R1-W2-W1 list_append list_append @last @append @append
 * EXPECT-BRANCH: for (struct node *node = list.head.next; node; count++) { [bug]
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define THREADS 2
#define NODES 2

struct node {
	struct node *next;
	int value;
};

struct list {
	struct node head;
	struct node *last;
	pthread_mutex_t lock;
	int count; /* guarded by lock */
};

static struct list list = {.last = &list.head, .lock = PTHREAD_MUTEX_INITIALIZER};

static void list_append(int value)
{
	struct node *node = malloc(sizeof *node);

	assert(node);
	node->value = value;
	node->next = NULL;
	struct node *last = list.last; /* @last */

	last->next = node;
	list.last = node; /* @append */
	pthread_mutex_lock(&list.lock);
	list.count++;
	pthread_mutex_unlock(&list.lock);
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

static void *append_values(void *argument)
{
	const int *const first = argument;

	if (*first != 100)
		stay_apart();
	for (int i = 0; i < NODES; i++)
		list_append(*first + i);
	return NULL;
}

static int list_release(void)
{
	int count = 0;

	for (struct node *node = list.head.next; node; count++) {
		struct node *const next = node->next;

		free(node);
		node = next;
	}
	return count;
}

int main(int count, char **arguments)
{
	pthread_t threads[THREADS];
	int firsts[THREADS] = {100, 200};

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, append_values, &firsts[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(list.count == THREADS * NODES);
	assert(list_release() == list.count);
	return 0;
}
