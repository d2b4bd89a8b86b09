/* Threads that share nothing but constants: their stacks, their heap, their thread-local variables. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local int local;
static int table[4] = {1, 2, 3, 4};

static void *work(void *unused)
{
	volatile int depth[8];
	volatile int *block = malloc(64);

	if (!block)
		abort();
	for (int i = 0; i < 8; i++) {
		depth[i] = table[i % 4];
		block[i] = depth[i];
		local += block[i];
	}
	if (local != 20)
		abort();
	free((void *)block);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
