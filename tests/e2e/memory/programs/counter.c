/* Two threads count without a lock. */
#include <assert.h>
#include <pthread.h>

static int counter;

static void *count(void *unused)
{
	for (int i = 0; i < 3; i++)
		counter = counter + 1;
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(counter == 6);
	return 0;
}
