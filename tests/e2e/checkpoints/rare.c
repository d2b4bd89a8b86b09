/*
 * rare N: one writer and N readers of one variable. After one in sixty of the orders, main writes
 * to memory that no other run touches. Each run finds this memory in its initial state.
 */
#include <pthread.h>
#include <stdlib.h>

#define READERS_MOST 20
#define PAGES 64
#define PAGE_BYTES 4096

static long shared;
static long seen[READERS_MOST];
static volatile char pages[PAGES][PAGE_BYTES];
static volatile char *heap;

static void *write_it(void *unused)
{
	shared = 1;
	return unused;
}

static void *read_it(void *place)
{
	*(long *)place = shared;
	return NULL;
}

static int is_touched(void)
{
	for (int i = 0; i < PAGES; i++)
		if (pages[i][i] || heap[(long)i * PAGE_BYTES + i])
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	const int readers = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t threads[READERS_MOST + 1];
	unsigned which = 0;

	heap = calloc(PAGES, PAGE_BYTES);
	if (!heap || readers > READERS_MOST || pthread_create(&threads[0], NULL, write_it, NULL))
		return 2;
	if (is_touched())
		abort();
	for (int i = 0; i < readers; i++)
		if (pthread_create(&threads[i + 1], NULL, read_it, &seen[i]))
			return 2;
	for (int i = 0; i <= readers; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < readers; i++)
		if (seen[i])
			which = which * 5 + (unsigned)i;
	if (which % 61 == 7) {
		pages[which % PAGES][which % PAGES] = 1;
		heap[(long)(which % PAGES) * PAGE_BYTES + which % PAGES] = 1;
	}
	return 0;
}
