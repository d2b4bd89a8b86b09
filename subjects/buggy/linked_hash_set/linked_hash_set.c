/* EXPECT: abort runs<=500 needs=memory */
/*
 * A hash set that remembers the order of insertion, in a wrapper that locks each call. Adding all
 * elements of another set reads that set without its lock.
 *
 * Fails when: main.0, which copies pending, reads how many elements it has; main.1 empties pending; main.0
 * goes along the chain of insertions, which ends before it has got as many.
 *
 * (A compiler may clear both with one store, which then has the line of the second.)
 *
 * EXPECT-PATTERN: R1x-W2x-W2y-R1y pending.size @size @no_size @no_first @first
 * EXPECT-PATTERN: R1x-W2y-W2x-R1y pending.size @size @no_first @no_first @first
 * EXPECT-VIOLATION: R1x-W2x-W2y-R1y set_add_all set_clear @size @no_size @no_first @first
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define BUCKETS 4
#define ENTRIES 8

struct entry {
	struct entry *next_in_bucket;
	struct entry *next; /* next entry in the order of insertion */
	unsigned long key;
};

struct set {
	pthread_mutex_t lock;
	unsigned long size;	    /* guarded by lock, as all below */
	struct entry *first, *last; /* ends of the list in the order of insertion */
	struct entry *buckets[BUCKETS];
	struct entry entries[ENTRIES];
};

static struct set pending = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct set all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static bool set_has(const struct set *set, unsigned long key)
{
	const struct entry *entry = set->buckets[key % BUCKETS];

	while (entry && entry->key != key)
		entry = entry->next_in_bucket;
	return entry;
}

/* Inserts a key; the caller holds the lock. */
static void set_insert(struct set *set, unsigned long key)
{
	struct entry *const entry = &set->entries[set->size];

	if (set_has(set, key))
		return;
	assert(set->size < ENTRIES);
	entry->key = key;
	entry->next_in_bucket = set->buckets[key % BUCKETS];
	set->buckets[key % BUCKETS] = entry;
	entry->next = NULL;
	if (set->last)
		set->last->next = entry;
	else
		set->first = entry;
	set->last = entry;
	set->size++;
}

static void set_add(struct set *set, unsigned long key)
{
	pthread_mutex_lock(&set->lock);
	set_insert(set, key);
	pthread_mutex_unlock(&set->lock);
}

static void set_clear(struct set *set)
{
	pthread_mutex_lock(&set->lock);
	set->size = 0;	   /* @no_size */
	set->first = NULL; /* @no_first */
	set->last = NULL;
	for (int i = 0; i < BUCKETS; i++)
		set->buckets[i] = NULL;
	pthread_mutex_unlock(&set->lock);
}

/* Locks are taken in this order: set, then other. */
static void set_add_all(struct set *set, struct set *other)
{
	pthread_mutex_lock(&set->lock);
	unsigned long left = other->size; /* @size */

	for (const struct entry *entry = other->first; entry; entry = entry->next) { /* @first */
		set_insert(set, entry->key);
		left--;
	}
	assert(left == 0);
	pthread_mutex_unlock(&set->lock);
}

static void *collect(void *unused)
{
	set_add(&all, 1);
	set_add_all(&all, &pending);
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

static void *discard(void *unused)
{
	stay_apart();
	set_clear(&pending);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t collector, discarder;

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
	for (unsigned long key = 2; key < 5; key++)
		set_add(&pending, key);
	pthread_create(&collector, NULL, collect, NULL);
	pthread_create(&discarder, NULL, discard, NULL);
	pthread_join(collector, NULL);
	pthread_join(discarder, NULL);
	assert(all.size == 1 || all.size == 4);
	assert(pending.size == 0);
	return 0;
}
