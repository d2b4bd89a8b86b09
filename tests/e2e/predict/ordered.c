/* Two locks in opposite orders, by threads of which one has ended before the other is created. */
#include <pthread.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *is_other)
{
	pthread_mutex_t *outer = is_other ? &second : &first;
	pthread_mutex_t *inner = is_other ? &first : &second;

	pthread_mutex_lock(outer);
	pthread_mutex_lock(inner);
	pthread_mutex_unlock(inner);
	pthread_mutex_unlock(outer);
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, work, &first);
	pthread_join(thread, NULL);
	return 0;
}
