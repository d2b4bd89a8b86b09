/* One instruction works on a thread's own memory for long, and then on a counter that both threads share. Raddle must
 * find the lost update although the instruction's site rests, and replay it. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define OWN 4096

static long counter;
static long accesses;

__attribute__((noinline)) static void add(volatile long *to)
{
	*to = *to + 1;
}

static void *count(void *unused)
{
	long *own = calloc(OWN, sizeof *own);

	for (long i = 0; own && i < accesses; i++)
		add(&own[i % OWN]);
	add(&counter);
	free(own);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	accesses = argc > 1 ? atol(argv[1]) : 0;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, count, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(counter == 2);
	return 0;
}
