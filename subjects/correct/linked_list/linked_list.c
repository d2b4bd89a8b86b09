/* EXPECT: passed runs=500 needs=memory */
/* The twin of linked_list: an append holds the list's lock from its first read to its last write. */
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
	pthread_mutex_lock(&list.lock);
	list.last->next = node;
	list.last = node;
	list.count++;
	pthread_mutex_unlock(&list.lock);
}

static void *append_values(void *argument)
{
	const int *const first = argument;

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

int main(void)
{
	pthread_t threads[THREADS];
	int firsts[THREADS] = {100, 200};

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, append_values, &firsts[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(list.count == THREADS * NODES);
	assert(list_release() == list.count);
	return 0;
}
