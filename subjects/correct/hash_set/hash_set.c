/* EXPECT: passed runs=500 needs=memory */
/* The twin of hash_set: the lock is held from the search to the addition. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#define BUCKETS 4
#ifndef THREADS
#define THREADS 2
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

struct entry {
	struct entry *next;
	unsigned key;
};

struct set {
	pthread_mutex_t lock;
	struct entry *buckets[BUCKETS]; /* guarded by lock */
	int size;			/* guarded by lock */
};

static struct set set = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool set_has(unsigned key)
{
	struct entry *entry = set.buckets[key % BUCKETS];

	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

static void set_add(unsigned key)
{
	pthread_mutex_lock(&set.lock);
	if (set_has(key)) {
		pthread_mutex_unlock(&set.lock);
		return;
	}

	struct entry *entry = malloc(sizeof *entry);

	assert(entry);
	entry->key = key;
	entry->next = set.buckets[key % BUCKETS];
	set.buckets[key % BUCKETS] = entry;
	set.size++;
	pthread_mutex_unlock(&set.lock);
}

static void *add_even(void *unused)
{
	const unsigned keys[] = {2, 5, 4};

	for (int i = 0; i < 3 * ROUNDS; i++)
		set_add(keys[i % 3]);
	return unused;
}

static void *add_odd(void *unused)
{
	const unsigned keys[] = {3, 5, 7};

	for (int i = 0; i < 3 * ROUNDS; i++)
		set_add(keys[i % 3]);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, i % 2 ? add_odd : add_even, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(set.size == 5);
	for (unsigned key = 2; key < 8; key++)
		assert(set_has(key) == (key != 6));
	return 0;
}
