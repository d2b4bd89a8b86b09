/* EXPECT: passed runs=200 needs=memory */
/* The twin of linked_hash_set: a thread that iterates over another set locks that one, too. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

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
	set->size = 0;
	set->first = NULL;
	set->last = NULL;
	for (int i = 0; i < BUCKETS; i++)
		set->buckets[i] = NULL;
	pthread_mutex_unlock(&set->lock);
}

/* Locks are taken in this order: set, then other. */
static void set_add_all(struct set *set, struct set *other)
{
	pthread_mutex_lock(&set->lock);
	pthread_mutex_lock(&other->lock);
	unsigned long left = other->size;

	for (const struct entry *entry = other->first; entry; entry = entry->next) {
		set_insert(set, entry->key);
		left--;
	}
	assert(left == 0);
	pthread_mutex_unlock(&other->lock);
	pthread_mutex_unlock(&set->lock);
}

static void *collect(void *unused)
{
	set_add(&all, 1);
	set_add_all(&all, &pending);
	return unused;
}

static void *discard(void *unused)
{
	set_clear(&pending);
	return unused;
}

int main(void)
{
	pthread_t collector, discarder;

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
