/* Two sides of a gate share one condition variable: a signal may wake the wrong side. The threads that then wait differ between schedules. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int is_full;

static void *fill(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		while (is_full)
			pthread_cond_wait(&changed, &lock);
		is_full = 1;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void *drain(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		while (!is_full)
			pthread_cond_wait(&changed, &lock);
		is_full = 0;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

int main(void)
{
	static void *(*const sides[])(void *) = {fill, fill, drain, drain};
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, sides[i], NULL))
			return 2;
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
