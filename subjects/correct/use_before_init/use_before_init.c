/* EXPECT: passed runs=20000 */
/*
 * Pattern: initialise, then start the threads that use it.
 *
 * The server loads its settings first and starts its logger thread second.
 *
 * Corrected: the settings are loaded before the logger starts. Cannot fail: the creation of the
 * thread orders the load before everything the logger does.
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

	settings_load();
	pthread_create(&thread, NULL, logger, NULL);
	pthread_join(thread, NULL);
	free(settings);
	return 0;
}
