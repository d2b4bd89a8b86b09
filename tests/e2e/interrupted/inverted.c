/* Two threads lock two mutexes in opposite orders; a third operation of each is a race. */
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static int shared;

static void *forward(void *argument)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	shared++;
	return argument;
}

static void *backward(void *argument)
{
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	shared++;
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], 0, forward, 0);
	pthread_create(&threads[1], 0, backward, 0);
	pthread_join(threads[0], 0);
	pthread_join(threads[1], 0);
	return 0;
}
