/* usage: large_stacks MIB... One thread for each number, with a stack of so many MiB. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

int main(int count, char **arguments)
{
	pthread_t threads[8];
	pthread_attr_t attributes;

	if (count > 9 || pthread_attr_init(&attributes))
		return 2;
	for (int i = 1; i < count; i++)
		if (pthread_attr_setstacksize(&attributes, strtoul(arguments[i], NULL, 10) << 20) ||
			pthread_create(&threads[i - 1], &attributes, lock, NULL))
			return 2;
	for (int i = 1; i < count; i++)
		pthread_join(threads[i - 1], NULL);
	return 0;
}
