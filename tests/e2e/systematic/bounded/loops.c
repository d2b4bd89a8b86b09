/* Four blocks from one loop; the one of the given number, from 1, is read twice and must not change. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define BLOCKS 4

static volatile long *blocks[BLOCKS];
static int chosen;

static void *change(void *unused)
{
	for (int i = 0; i < BLOCKS; i++)
		++*blocks[i];
	return unused;
}

static void *look(void *unused)
{
	for (int i = 0; i < BLOCKS; i++) {
		const long first = *blocks[i];
		const long second = *blocks[i];

		assert(i != chosen || first == second);
	}
	return unused;
}

static long *make(void)
{
	return calloc(1, sizeof(long));
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	chosen = argc > 1 ? atoi(argv[1]) - 1 : 0;
	for (int i = 0; i < BLOCKS; i++)
		assert((blocks[i] = make()));
	pthread_create(&threads[0], NULL, change, NULL);
	pthread_create(&threads[1], NULL, look, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
