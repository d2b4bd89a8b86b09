/* A thread that waits for another process for two seconds of real time. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *work(void *argument)
{
	if (argument && system("/bin/sleep 2") != 0)
		return 0;
	pthread_mutex_lock(&lock);
	shared++;
	pthread_mutex_unlock(&lock);
	return 0;
}

int main(void)
{
	pthread_t threads[2];

	for (long i = 0; i < 2; i++)
		pthread_create(&threads[i], 0, work, (void *)i);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], 0);
	return shared != 2;
}
