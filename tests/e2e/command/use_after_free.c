/* Used after it was freed, in some schedules: silently, unless built with AddressSanitizer. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *counter;

static void *count(void *argument)
{
	pthread_mutex_lock(&mutex);
	if (counter)
		*counter += 1;
	pthread_mutex_unlock(&mutex);
	return argument;
}

/* Frees and forgets in two critical sections. */
static void *retire(void *argument)
{
	pthread_mutex_lock(&mutex);
	free(counter);
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	counter = NULL;
	pthread_mutex_unlock(&mutex);
	return argument;
}

int main(void)
{
	pthread_t threads[2];

	counter = calloc(1, sizeof *counter);
	pthread_create(&threads[0], NULL, count, NULL);
	pthread_create(&threads[1], NULL, retire, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
