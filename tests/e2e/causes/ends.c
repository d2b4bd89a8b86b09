/* Failures of what another thread has not finished, or has ended: ends counted | exits | returns | stops. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t idle = PTHREAD_COND_INITIALIZER;
static int queued = 1, busy, done;

/* Takes a task, and counts as busy only after that. */
static void *work(void *unused)
{
	pthread_mutex_lock(&lock);
	queued--;
	pthread_mutex_unlock(&lock); /* TAKEN */
	pthread_mutex_lock(&lock);
	busy++;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	done++;
	busy--;
	pthread_cond_signal(&idle);
	pthread_mutex_unlock(&lock);
	return unused;
}

static void wait_until_idle(void)
{
	int seen;

	pthread_mutex_lock(&lock);
	while (queued || busy)
		pthread_cond_wait(&idle, &lock);
	seen = done;
	pthread_mutex_unlock(&lock);
	assert(seen == 1); /* FINISHED */
}

static char *settings;

static void drop_settings(void)
{
	free(settings);
	settings = NULL;
}

static void *use_settings(void *unused)
{
	pthread_mutex_lock(&lock);
	assert(strlen(settings)); /* USED */
	pthread_mutex_unlock(&lock);
	return unused;
}

static atomic_int is_running;
static int ticks;

static void *serve(void *unused)
{
	is_running = 1; /* STARTED */
	while (is_running) {
		ticks++;
		usleep(100000);
	}
	return unused;
}

static int start_and_stop(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, serve, NULL);
	is_running = 0; /* STOPPED */
	pthread_join(thread, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	const char *mode = argc == 2 ? argv[1] : "";
	const int counts = !strcmp(mode, "counted");
	pthread_t thread;

	if (!strcmp(mode, "stops"))
		return start_and_stop();
	settings = strdup("verbose");
	(void)atexit(drop_settings);
	pthread_create(&thread, NULL, counts ? work : use_settings, NULL);
	if (counts) {
		wait_until_idle();
		pthread_join(thread, NULL);
		return 0;
	}
	pthread_detach(thread);
	if (!strcmp(mode, "exits"))
		exit(0); /* EXIT */
	return 0;
}
