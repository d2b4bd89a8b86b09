/* EXPECT: abort runs<=500 needs=memory */
/*
 * Pattern: cache (a hit is used after the lock is released; the least recently used entry makes room).
 *
 * Fails when: main.0 finds the entry with its key; main.1 needs room, and gives that entry another
 * key and value; main.0 uses the value as that of its own key.
 *
 * EXPECT-BOUNDS: c=1 v=1 t=2
 * EXPECT-PATTERN: R1x-W2x-W2y-R1y cache.entries[0].key @match @rekey @refill @value
 * EXPECT-VIOLATION: R1x-W2x-W2y-R1y cache_get cache_put @match @rekey @refill @value
 * EXPECT-TIMES: Cache4j threads=12 paper=0.34/0.47/1.23/2.76/26.4 -DREADERS=10 -DROUNDS=1000 -DENTRIES=16
 * EXPECT-BRANCH: assert(values[i] == 10); [bug]
 * EXPECT-BRANCH: if (cache.entries[i].used < oldest->used) [benign]
 * EXPECT-BRANCH: if (cache.entries[i].key == key) [benign]
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

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
		if (cache.entries[i].key == key) /* @match */
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
	pthread_mutex_unlock(&cache.lock);
	if (entry)
		*value = entry->value; /* @value */
	return entry;
}

static void cache_put(long key, long value)
{
	pthread_mutex_lock(&cache.lock);
	struct entry *entry = cache_oldest();

	entry->key = key;     /* @rekey */
	entry->value = value; /* @refill */
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

static void *write_others(void *unused)
{
	stay_apart();
	for (long key = 4; key < 4 + ENTRIES * ROUNDS; key++)
		cache_put(key, key * 10);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t readers[READERS], writer;
	long values[READERS] = {0};

	steps_apart = count > 1 ? atol(arguments[1]) : 0;
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
