/* EXPECT: passed runs=20000 */
/*
 * Pattern: a pause that is reported, and no more.
 *
 * A worker counts its steps. A monitor looks at the count twice, half a millisecond apart, and asks
 * a worker that has not counted in between to stop.
 *
 * Corrected: the worker itself closes the device when it sees the request. Cannot fail: only the
 * worker sets is_closed, after its last use.
 */
#include <assert.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int beats;		/* guarded by lock */
static bool is_done, is_closed; /* guarded by lock */
static bool is_asked;		/* guarded by lock */

static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		assert(!is_closed);
		beats++;
		is_done = is_closed = is_asked || i == 2;
		pthread_mutex_unlock(&lock);
		if (is_done)
			break;
	}
	return NULL;
}

static int look(bool *done)
{
	int seen;

	pthread_mutex_lock(&lock);
	seen = beats;
	*done = is_done;
	pthread_mutex_unlock(&lock);
	return seen;
}

static void *watch(void *unused)
{
	bool done;
	int before, now = look(&done);

	(void)unused;
	while (!done) {
		before = now;
		usleep(500);
		now = look(&done);
		if (now != before || done)
			continue;
		pthread_mutex_lock(&lock);
		is_asked = true;
		pthread_mutex_unlock(&lock);
		break;
	}
	return NULL;
}

int main(void)
{
	pthread_t worker, monitor;

	pthread_create(&worker, NULL, work, NULL);
	pthread_create(&monitor, NULL, watch, NULL);
	pthread_join(worker, NULL);
	pthread_join(monitor, NULL);
	puts(is_closed ? "closed" : "open");
	return 0;
}
