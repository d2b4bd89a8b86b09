/*
 * big_heap MEGABYTES PAGES: touches a heap before the first thread, then two threads of which one writes a
 * few pages, spread over it. A rewind must put back these pages, and find them.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MEGABYTE ((size_t)1024 * 1024)

static char *heap;
static size_t heap_bytes;
static size_t page_count;

static void *write_pages(void *unused)
{
	for (size_t i = 0; i < page_count; i++)
		heap[heap_bytes / page_count * i]++;
	return unused;
}

static void *idle(void *unused)
{
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	if (argc != 3)
		return 2;
	heap_bytes = (size_t)atol(argv[1]) * MEGABYTE;
	page_count = (size_t)atol(argv[2]);
	heap = malloc(heap_bytes);
	if (!heap)
		return 2;
	memset(heap, 1, heap_bytes);
	if (pthread_create(&threads[0], NULL, write_pages, NULL) != 0 ||
		pthread_create(&threads[1], NULL, idle, NULL) != 0)
		return 2;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	/* Each page was written once since the program began, or a rewind was not one. */
	for (size_t i = 0; i < page_count; i++)
		if (heap[heap_bytes / page_count * i] != 2)
			return 1;
	return 0;
}
