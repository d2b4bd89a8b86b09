/* EXPECT: unlock-not-owned strategy=random runs<=200 */
/*
 * Pattern: unlock of a mutex that another thread holds.
 *
 * Two housekeepers tidy a cache. A thread that finds it busy skips the work, but not the unlock at the end.
 *
 * Fails when: main.0 has locked the cache and not yet unlocked it; main.1 tries, fails, and
 * unlocks.
 */
#include <pthread.h>
#include <stdio.h>

#define HOUSEKEEPERS 2

static struct {
	pthread_mutex_t lock;
	int stale_entries; /* guarded by lock */
} cache = {.lock = PTHREAD_MUTEX_INITIALIZER, .stale_entries = 7};

static void *tidy(void *unused)
{
	(void)unused;
	if (pthread_mutex_trylock(&cache.lock) == 0)
		cache.stale_entries = 0;
	pthread_mutex_unlock(&cache.lock);
	return NULL;
}

int main(void)
{
	pthread_t housekeepers[HOUSEKEEPERS];

	for (int i = 0; i < HOUSEKEEPERS; i++)
		pthread_create(&housekeepers[i], NULL, tidy, NULL);
	for (int i = 0; i < HOUSEKEEPERS; i++)
		pthread_join(housekeepers[i], NULL);
	printf("%d stale entries\n", cache.stale_entries);
	return 0;
}
