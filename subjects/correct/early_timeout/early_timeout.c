/* EXPECT: passed runs=20000 options=--stalls=any */
/*
 * Pattern: a timed wait with its result checked.
 *
 * A client allows a server that answers at once ten whole seconds.
 *
 * Corrected: a wait that timed out is not a reply. Cannot fail: `reply` is read only behind a
 * successful wait, which the server's store precedes.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

struct reply {
	int status;
};

static sem_t replied;
static struct reply *reply; /* set before replied is posted */

static void *server(void *unused)
{
	static struct reply ok = {.status = 200};

	(void)unused;
	reply = &ok;
	sem_post(&replied);
	return NULL;
}

int main(void)
{
	struct timespec deadline;
	pthread_t thread;

	sem_init(&replied, 0, 0);
	pthread_create(&thread, NULL, server, NULL);
	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += 10;
	if (sem_timedwait(&replied, &deadline) == 0)
		printf("status %d\n", reply->status);
	else
		printf("no reply\n");
	pthread_join(thread, NULL);
	sem_destroy(&replied);
	return 0;
}
