/*
 * Two locks in opposite orders, but the second thread waits until the first has released both. This
 * candidate cannot happen, for a reason that the locks do not show.
 */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;

static void *one(void *unused)
{
	pthread_mutex_lock(&first);
	pthread_mutex_lock(&second);
	pthread_mutex_unlock(&second);
	pthread_mutex_unlock(&first);
	sem_post(&done);
	return unused;
}

static void *other(void *unused)
{
	sem_wait(&done);
	pthread_mutex_lock(&second);
	pthread_mutex_lock(&first);
	pthread_mutex_unlock(&first);
	pthread_mutex_unlock(&second);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	sem_init(&done, 0, 0);
	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, other, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
