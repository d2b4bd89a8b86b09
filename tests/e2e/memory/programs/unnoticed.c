/* A race without consequences, beside a correct counter. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long hits, total;

static void *work(void *argument)
{
	hits++;
	pthread_mutex_lock(&lock);
	total++;
	pthread_mutex_unlock(&lock);
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return total != 2;
}
