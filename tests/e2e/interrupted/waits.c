/* Waits two seconds of real time for another process, before a branch that depends on the schedule. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *work(void *argument)
{
	pthread_mutex_lock(&lock);
	if (shared++)
		shared *= 2;
	pthread_mutex_unlock(&lock);
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return system("sleep 2") != 0;
}
