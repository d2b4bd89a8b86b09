/* EXPECT: passed runs=20000 */
/*
 * Pattern: locked face, unlocked inside.
 *
 * Main warms a cache up while a first client asks. A client that misses loads the entry itself.
 *
 * Corrected: the work inside is a function that expects the lock to be held. Cannot fail: each
 * path locks once.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	bool is_loaded; /* guarded by lock */
	int value;	/* guarded by lock */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* The caller holds the lock. */
static void cache_load_locked(void)
{
	if (!cache.is_loaded)
		cache.value = 12;
	cache.is_loaded = true;
}

static void cache_load(void)
{
	pthread_mutex_lock(&cache.lock);
	cache_load_locked();
	pthread_mutex_unlock(&cache.lock);
}

static int cache_get(void)
{
	pthread_mutex_lock(&cache.lock);
	if (!cache.is_loaded)
		cache_load_locked();
	int value = cache.value;
	pthread_mutex_unlock(&cache.lock);
	return value;
}

static void *client(void *result)
{
	*(int *)result = cache_get();
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int result = 0;

	pthread_create(&thread, NULL, client, &result);
	cache_load();
	pthread_join(thread, NULL);
	printf("value %d\n", result);
	return 0;
}
