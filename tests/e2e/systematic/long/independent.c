/* Two threads that share nothing: one Mazurkiewicz trace of 12,010 scheduling points. */
#include <pthread.h>

#define CALLS 3000

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};

static void *use(void *lock)
{
	for (int i = 0; i < CALLS; i++) {
		pthread_mutex_lock(lock);
		pthread_mutex_unlock(lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, use, &locks[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
