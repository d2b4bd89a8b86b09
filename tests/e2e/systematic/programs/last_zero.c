/*
 * Abdulla, Aronis, Jonsson, Sagonas, POPL 2014: n threads write array[i] = array[i - 1] + 1, one
 * searches the last zero. (n + 3) * 2^(n - 2) traces.
 */
#include "scaling.h"

static long array[THREADS_MOST + 1];
static int count;

static void *body(void *number)
{
	long i = (long)number;

	if (i > 0)
		array[i] = array[i - 1] + 1;
	else
		for (i = count; array[i] != 0; i--)
			;
	return (void *)i;
}

int main(int argc, char **argv)
{
	count = thread_count(argc, argv);
	run_threads(count + 1, body);
	return 0;
}
