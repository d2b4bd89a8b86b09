/* EXPECT: abort runs<=500 */
/*
 * Pattern: a pointer is copied under the lock and used after it.
 *
 * A server reads its settings through a pointer that a reload replaces.
 *
 * Fails when: main.0 copies the pointer and unlocks; main.1 replaces the settings, wipes the old ones
 * and frees them; main.0 reads the wiped limit. No operation lies between the unlock and the use.
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
	const struct settings *settings = current;
	pthread_mutex_unlock(&lock);
	assert(settings->limit > 0);
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
