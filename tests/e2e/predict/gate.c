/* Two locks in opposite orders, behind a third that both threads hold: no circle can close. */
#include <pthread.h>

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *is_other)
{
	pthread_mutex_t *outer = is_other ? &second : &first;
	pthread_mutex_t *inner = is_other ? &first : &second;

	pthread_mutex_lock(&gate);
	pthread_mutex_lock(outer);
	pthread_mutex_lock(inner);
	pthread_mutex_unlock(inner);
	pthread_mutex_unlock(outer);
	pthread_mutex_unlock(&gate);
	return NULL;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, work, NULL);
	pthread_create(&threads[1], NULL, work, &gate);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
