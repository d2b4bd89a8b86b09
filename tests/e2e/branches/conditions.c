/*
 * The thread that a signal wakes, among several waiting ones: the marked conditions depend on the schedule, the others do not.
 */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t given = PTHREAD_COND_INITIALIZER, come = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all = PTHREAD_COND_INITIALIZER, lost = PTHREAD_COND_INITIALIZER;
static int waiting, first, open, late, sent;

/* One after the other they wait, as the mutex was taken before they were made; a woken thread signals in turn, and so wakes the other thread. */
static void *take(void *number)
{
	pthread_mutex_lock(&mutex);
	waiting++;
	pthread_cond_signal(&come);
	pthread_cond_wait(&given, &mutex);
	if (!first) { /* sensitive */
		first = *(int *)number;
		pthread_cond_signal(&given);
	}
	while (!open) /* sensitive */
		pthread_cond_wait(&all, &mutex);
	pthread_mutex_unlock(&mutex);
	return NULL;
}

/* A signal without a waiter is lost. */
static void *send(void *unused)
{
	pthread_mutex_lock(&mutex);
	sent = 1;
	pthread_cond_signal(&lost);
	pthread_mutex_unlock(&mutex);
	return unused;
}

int main(void)
{
	static int numbers[] = {1, 2};
	pthread_t threads[3];

	for (int i = 0; i < 2; i++) {
		pthread_mutex_lock(&mutex);
		if (pthread_create(&threads[i], NULL, take, &numbers[i]))
			return 1;
		while (waiting == i)
			pthread_cond_wait(&come, &mutex);
		pthread_mutex_unlock(&mutex);
	}
	if (pthread_create(&threads[2], NULL, send, NULL))
		return 1;
	pthread_mutex_lock(&mutex);
	if (sent) /* sensitive */
		late++;
	else
		pthread_cond_wait(&lost, &mutex);
	pthread_cond_signal(&given);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	open = 1;
	pthread_cond_broadcast(&all);
	pthread_mutex_unlock(&mutex);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return waiting != 2;
}
