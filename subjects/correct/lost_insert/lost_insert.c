/* EXPECT: passed runs=2000 needs=memory */
/* The twin of lost_insert: the bucket is changed only if it still leads to the node's next. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#define BUCKETS 2

struct node {
	struct node *next;
	int key;
};

static _Atomic(struct node *) buckets[BUCKETS];

static void insert(int key)
{
	struct node *node = malloc(sizeof *node);

	assert(node);
	node->key = key;
	node->next = atomic_load(&buckets[key % BUCKETS]);
	while (!atomic_compare_exchange_weak(&buckets[key % BUCKETS], &node->next, node))
		continue;
}

static void *insert_three(void *argument)
{
	const int first = argument ? 10 : 20;

	for (int key = first; key < first + 3; key++)
		insert(key);
	return NULL;
}

static int count_all(void)
{
	int count = 0;

	for (int i = 0; i < BUCKETS; i++)
		for (struct node *node = atomic_load(&buckets[i]); node; node = node->next)
			count++;
	return count;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, insert_three, &other);
	insert_three(NULL);
	pthread_join(other, NULL);
	assert(count_all() == 6);
	return 0;
}
