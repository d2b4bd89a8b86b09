/*
 * Two threads lock mutexes of their own, so all orders of their ops are one for raddle. They also
 * access plain memory, which an unmodified binary does not show. The program fails if the second
 * thread ends before the first one locks: 25 steps of the second thread in a row.
 */
#include <pthread.h>
#include <stdlib.h>

#define LOCKINGS 12

struct worker {
	pthread_mutex_t own;
	int lockings;
};

static struct worker workers[2] = {
	{.own = PTHREAD_MUTEX_INITIALIZER}, {.own = PTHREAD_MUTEX_INITIALIZER}};

static void *work(void *argument)
{
	struct worker *worker = argument;

	for (int i = 0; i < LOCKINGS; i++) {
		pthread_mutex_lock(&worker->own);
		worker->lockings++;
		pthread_mutex_unlock(&worker->own);
	}
	if (worker == &workers[1] && !workers[0].lockings)
		abort();
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, &workers[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
