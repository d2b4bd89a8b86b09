/* Blocks whose size depends on the schedule may be smaller than they were. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t numbers = 4;
static volatile int seen;

static void *serve(void *unused)
{
	pthread_mutex_lock(&lock);
	numbers = 2;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t thread;
	void *block;

	pthread_create(&thread, NULL, serve, NULL);
	pthread_mutex_lock(&lock);
	block = malloc(numbers * sizeof(long));
	if (numbers == 2 && block) /* sensitive */
		seen = 1;
	pthread_mutex_unlock(&lock);
	free(block);
	pthread_join(thread, NULL);
	return 0;
}
