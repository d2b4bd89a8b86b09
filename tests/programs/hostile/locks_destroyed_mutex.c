/* EXPECT: use-after-free runs<=1 */
/*
 * Locks a mutex that another thread has destroyed. The call returns EINVAL, which the program ignores. A destroyed
 * mutex that is initialised again is a new one.
 */
#include <pthread.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *count_slowly(void *argument)
{
	usleep(9000);
	pthread_mutex_lock(&lock);
	++*(int *)argument;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t thread;
	int count = 0;

	pthread_create(&thread, NULL, count_slowly, &count);
	pthread_mutex_destroy(&lock);
	pthread_mutex_init(&lock, NULL);
	pthread_join(thread, NULL);
	pthread_create(&thread, NULL, count_slowly, &count);
	usleep(5000);
	pthread_mutex_destroy(&lock);
	pthread_join(thread, NULL);
	return 0;
}
