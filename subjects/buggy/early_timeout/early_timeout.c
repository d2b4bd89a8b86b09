/* EXPECT: crash strategy=random runs<=500 options=--stalls=any */
/*
 * Pattern: a timeout that "cannot happen".
 *
 * A client allows a server that answers at once ten whole seconds, and does not test the result of
 * sem_timedwait.
 *
 * Fails when: main's sem_timedwait times out (a loaded machine is enough) before main.0 has
 * posted: the reply is still missing.
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
	sem_timedwait(&replied, &deadline);
	printf("status %d\n", reply->status);
	pthread_join(thread, NULL);
	sem_destroy(&replied);
	return 0;
}
