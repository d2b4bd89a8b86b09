/*
 * A cache that drops the least recently used entry. Many threads ask for values; a value that is
 * missing is made and put into the cache.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "run_time.h"

#ifndef SCALE
#define SCALE 1
#endif
#define WORKERS 11
#define ROUNDS (1500 * SCALE)
#define KEYS 400
#define ENTRIES_MOST 256
#define BUCKETS 512
#define VALUE_BYTES 512

struct entry {
	int key;
	struct entry *next;	     /* next entry of its bucket */
	struct entry *newer, *older; /* neighbours by use */
	unsigned char value[VALUE_BYTES];
};

static struct {
	pthread_mutex_t lock;
	struct entry *buckets[BUCKETS]; /* all guarded by lock */
	struct entry *newest, *oldest;
	int count;
	long hits, misses;
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct entry **bucket_of(int key)
{
	return &cache.buckets[(unsigned)key * 2654435761u % BUCKETS];
}

static void unlink_use(struct entry *entry)
{
	*(entry->newer ? &entry->newer->older : &cache.newest) = entry->older;
	*(entry->older ? &entry->older->newer : &cache.oldest) = entry->newer;
}

static void link_newest(struct entry *entry)
{
	entry->newer = NULL;
	entry->older = cache.newest;
	*(cache.newest ? &cache.newest->newer : &cache.oldest) = entry;
	cache.newest = entry;
}

static struct entry *find(int key)
{
	struct entry *entry = *bucket_of(key);

	while (entry && entry->key != key)
		entry = entry->next;
	return entry;
}

static void remove_oldest(void)
{
	struct entry *const entry = cache.oldest;
	struct entry **at = bucket_of(entry->key);

	while (*at != entry)
		at = &(*at)->next;
	*at = entry->next;
	unlink_use(entry);
	cache.count--;
	free(entry);
}

static bool get(int key, unsigned char *value)
{
	pthread_mutex_lock(&cache.lock);
	struct entry *const entry = find(key);

	if (entry) {
		unlink_use(entry);
		link_newest(entry);
		memcpy(value, entry->value, VALUE_BYTES);
	}
	cache.hits += entry != NULL;
	cache.misses += entry == NULL;
	pthread_mutex_unlock(&cache.lock);
	return entry;
}

static void put(int key, const unsigned char *value)
{
	struct entry *const made = malloc(sizeof *made);

	made->key = key;
	memcpy(made->value, value, VALUE_BYTES);
	pthread_mutex_lock(&cache.lock);
	if (find(key)) {
		free(made);
	} else {
		made->next = *bucket_of(key);
		*bucket_of(key) = made;
		link_newest(made);
		if (++cache.count > ENTRIES_MOST)
			remove_oldest();
	}
	pthread_mutex_unlock(&cache.lock);
}

/* Makes a value, like a document rendered from a template. */
static void make(int key, unsigned char *value)
{
	unsigned state = (unsigned)key + 1;

	for (int i = 0; i < VALUE_BYTES; i++) {
		state = state * 1664525 + 1013904223;
		value[i] = (unsigned char)(state >> 24);
	}
}

static unsigned digest(const unsigned char *value)
{
	unsigned sum = 2166136261u;

	for (int i = 0; i < VALUE_BYTES; i++)
		sum = (sum ^ value[i]) * 16777619u;
	return sum;
}

static void *ask(void *argument)
{
	unsigned seed = *(const unsigned *)argument, sum = 0;
	unsigned char value[VALUE_BYTES], again[VALUE_BYTES];

	for (int i = 0; i < ROUNDS; i++) {
		seed = seed * 1103515245 + 12345;
		const int key = (int)((seed >> 16) % KEYS * ((seed >> 8) % 16) / 16);

		if (!get(key, value)) {
			make(key, value);
			put(key, value);
		}
		make(key, again);
		sum += digest(value) - digest(again);
	}
	assert(sum == 0);
	return NULL;
}

int main(void)
{
	pthread_t threads[WORKERS];
	unsigned seeds[WORKERS];

	for (unsigned i = 0; i < WORKERS; i++) {
		seeds[i] = i + 1;
		pthread_create(&threads[i], NULL, ask, &seeds[i]);
	}
	for (int i = 0; i < WORKERS; i++)
		pthread_join(threads[i], NULL);
	assert(cache.hits + cache.misses == (long)WORKERS * ROUNDS);
	while (cache.count)
		remove_oldest();
	run_ends();
	return 0;
}
