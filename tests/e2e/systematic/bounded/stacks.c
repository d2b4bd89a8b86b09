/* The program of loops.c, but each block is allocated by a call of its own: all are the first of their stack. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static volatile long *blocks[3];

static void *change(void *unused)
{
	for (int i = 0; i < 3; i++)
		++*blocks[i];
	return unused;
}

static void *look(void *unused)
{
	const long first = *blocks[2];
	const long second = *blocks[2];

	assert(first == second);
	return unused;
}

static __attribute__((noinline)) long *make(void)
{
	long *block = calloc(1, sizeof *block);

	assert(block);
	return block;
}

int main(void)
{
	pthread_t threads[2];

	blocks[0] = make();
	blocks[1] = make();
	blocks[2] = make();
	pthread_create(&threads[0], NULL, change, NULL);
	pthread_create(&threads[1], NULL, look, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
