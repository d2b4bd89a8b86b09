/* Four threads that lock in two orders now and then: short runs, a deadlock. */
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int shared;

static void *work(void *argument)
{
	const int first = argument != 0;

	pthread_mutex_lock(&locks[first]);
	pthread_mutex_lock(&locks[!first]);
	shared++;
	pthread_mutex_unlock(&locks[!first]);
	pthread_mutex_unlock(&locks[first]);
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
