/* EXPECT: passed runs=500 needs=memory */
/* The twin of lru_cache: a hit's value is taken before the lock is released. */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#ifndef ENTRIES
#define ENTRIES 2
#endif
#ifndef READERS
#define READERS 1
#endif
#ifndef ROUNDS
#define ROUNDS 1
#endif

struct entry {
	long key;
	long value;
	long used; /* time */
};

struct cache {
	pthread_mutex_t lock;
	struct entry entries[ENTRIES]; /* guarded by lock */
	long now;		       /* guarded by lock */
};

static struct cache cache = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.entries = {{1, 10, 1}, {2, 20, 2}},
	.now = 2,
};

/* Finds an entry; the caller holds the lock. Returns NULL if there is none. */
static struct entry *cache_find(long key)
{
	for (int i = 0; i < ENTRIES; i++)
		if (cache.entries[i].key == key)
			return &cache.entries[i];
	return NULL;
}

static struct entry *cache_oldest(void)
{
	struct entry *oldest = &cache.entries[0];

	for (int i = 1; i < ENTRIES; i++)
		if (cache.entries[i].used < oldest->used)
			oldest = &cache.entries[i];
	return oldest;
}

static bool cache_get(long key, long *value)
{
	pthread_mutex_lock(&cache.lock);
	struct entry *entry = cache_find(key);

	if (entry)
		entry->used = ++cache.now;
	if (entry)
		*value = entry->value;
	pthread_mutex_unlock(&cache.lock);
	return entry;
}

static void cache_put(long key, long value)
{
	pthread_mutex_lock(&cache.lock);
	struct entry *entry = cache_oldest();

	entry->key = key;
	entry->value = value;
	entry->used = ++cache.now;
	pthread_mutex_unlock(&cache.lock);
}

static void *read_first(void *argument)
{
	long *const value = argument;

	for (int i = 0; i < ROUNDS; i++)
		if (!cache_get(1, value))
			*value = 10;
	return NULL;
}

static void *write_others(void *unused)
{
	for (long key = 4; key < 4 + ENTRIES * ROUNDS; key++)
		cache_put(key, key * 10);
	return unused;
}

int main(void)
{
	pthread_t readers[READERS], writer;
	long values[READERS] = {0};

	for (int i = 0; i < READERS; i++)
		pthread_create(&readers[i], NULL, read_first, &values[i]);
	pthread_create(&writer, NULL, write_others, NULL);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	pthread_join(writer, NULL);
	for (int i = 0; i < READERS; i++)
		assert(values[i] == 10);
	return 0;
}
