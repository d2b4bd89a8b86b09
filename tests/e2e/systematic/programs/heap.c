/* n threads write to elements of an array on the heap, each to its own: one trace. */
#include "scaling.h"

static long *elements;

static void *body(void *number)
{
	elements[(long)number]++;
	return NULL;
}

int main(int argc, char **argv)
{
	long sum = 0;

	elements = calloc(THREADS_MOST, sizeof *elements);
	if (!elements)
		abort();
	run_threads(thread_count(argc, argv), body);
	for (int i = 0; i < THREADS_MOST; i++)
		sum += elements[i];
	return sum != atoi(argv[1]);
}
