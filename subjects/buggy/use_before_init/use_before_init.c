/* EXPECT: crash runs<=500 */
/*
 * Pattern: use before the other thread has initialised.
 *
 * The server starts its logger thread first and loads its settings second; the logger relies on
 * being slower.
 *
 * Fails when: main.0 begins and locks in settings_level before main locks in settings_load: it
 * follows a null pointer.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct settings {
	int level;
};

static pthread_mutex_t settings_lock = PTHREAD_MUTEX_INITIALIZER;
static struct settings *settings; /* guarded by settings_lock */

static void settings_load(void)
{
	struct settings *loaded = malloc(sizeof(*loaded));

	if (!loaded)
		exit(1);
	loaded->level = 3;
	pthread_mutex_lock(&settings_lock);
	settings = loaded;
	pthread_mutex_unlock(&settings_lock);
}

static int settings_level(void)
{
	pthread_mutex_lock(&settings_lock);
	int level = settings->level;
	pthread_mutex_unlock(&settings_lock);
	return level;
}

static void *logger(void *unused)
{
	(void)unused;
	printf("logging at level %d\n", settings_level());
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, logger, NULL);
	settings_load();
	pthread_join(thread, NULL);
	free(settings);
	return 0;
}
