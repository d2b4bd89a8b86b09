/* EXPECT: passed runs=20000 */
/*
 * Pattern: a pointer that is used under the lock.
 *
 * A server reads its settings through a pointer that a reload replaces.
 *
 * Corrected: the server reads the limit before it unlocks. Cannot fail: the settings are replaced under the
 * same lock, and wiped after that.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct settings {
	char host[64];
	int limit; /* always positive */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct settings *current; /* guarded by lock */

static struct settings *settings_new(int limit)
{
	struct settings *settings = malloc(sizeof *settings);

	assert(settings);
	settings->limit = limit;
	return settings;
}

static void settings_free(struct settings *settings)
{
	*(volatile int *)&settings->limit = 0;
	free(settings);
}

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock);
	const int limit = current->limit;
	pthread_mutex_unlock(&lock);
	assert(limit > 0);
	return unused;
}

static void *reload(void *unused)
{
	struct settings *settings = settings_new(200);

	pthread_mutex_lock(&lock);
	struct settings *old = current;
	current = settings;
	pthread_mutex_unlock(&lock);
	settings_free(old);
	return unused;
}

int main(void)
{
	pthread_t server, reloader;

	current = settings_new(100);
	pthread_create(&server, NULL, serve, NULL);
	pthread_create(&reloader, NULL, reload, NULL);
	pthread_join(server, NULL);
	pthread_join(reloader, NULL);
	settings_free(current);
	return 0;
}
