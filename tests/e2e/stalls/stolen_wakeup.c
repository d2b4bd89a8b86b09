/*
 * Each worker borrows the only buffer for a millisecond. The wait tests its condition once, so a worker that arrives
 * between the signal and the wake-up takes the buffer of the worker that waited. That worker arrives late only if it
 * is stalled while another one works: the sleep stands for work and orders nothing.
 */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t returned = PTHREAD_COND_INITIALIZER;
static int idle = 1;

static void *borrow(void *unused)
{
	pthread_mutex_lock(&lock);
	if (!idle)
		pthread_cond_wait(&returned, &lock);
	idle--;
	pthread_mutex_unlock(&lock);
	usleep(1000);
	pthread_mutex_lock(&lock);
	idle++;
	pthread_cond_signal(&returned);
	pthread_mutex_unlock(&lock);
	return unused;
}

static int least;

static void *watch(void *unused)
{
	pthread_mutex_lock(&lock);
	least = idle < least ? idle : least;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t workers[3], watcher;

	for (int i = 0; i < 3; i++)
		pthread_create(&workers[i], NULL, borrow, NULL);
	pthread_create(&watcher, NULL, watch, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(workers[i], NULL);
	pthread_join(watcher, NULL);
	if (least < 0)
		abort();
	return 0;
}
