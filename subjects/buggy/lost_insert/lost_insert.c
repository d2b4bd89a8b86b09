/* EXPECT: abort runs<=500 needs=memory */
/*
 * A hash table whose chains are extended without care. Fails: main and main.0 insert into one bucket;
 * both take its first node as their next; the bucket then leads to the one that wrote it last, and the
 * other's node is lost.
 */
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
	atomic_store(&buckets[key % BUCKETS], node);
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
