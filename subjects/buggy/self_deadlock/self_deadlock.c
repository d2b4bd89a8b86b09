/* EXPECT: self-deadlock runs<=500 */
/*
 * Pattern: a lock taken twice on a path that is seldom walked.
 *
 * Main warms a cache up while a first client asks. A client that misses loads the entry itself,
 * under the lock that it holds already.
 *
 * Fails when: main.0 locks in cache_get before main locks in cache_load: it misses, calls
 * cache_load and locks again what it holds.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	bool is_loaded; /* guarded by lock */
	int value;	/* guarded by lock */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void cache_load(void)
{
	pthread_mutex_lock(&cache.lock);
	if (!cache.is_loaded)
		cache.value = 12;
	cache.is_loaded = true;
	pthread_mutex_unlock(&cache.lock);
}

static int cache_get(void)
{
	pthread_mutex_lock(&cache.lock);
	if (!cache.is_loaded)
		cache_load();
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
