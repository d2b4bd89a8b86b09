/* native RUNS: microseconds of the wall clock per call of functions.h's functions, with kernel threads. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/functions.h"
#include "support/stopwatch.h"

static double cost(int (*function)(void *), uint64_t runs)
{
	struct stopwatch watch;

	stopwatch_start(&watch);
	for (uint64_t i = 0; i < runs; i++)
		if (function(NULL))
			exit(2);
	stopwatch_stop(&watch);
	return watch.wall_us / (double)runs;
}

int main(int count, char **words)
{
	uint64_t runs;

	if (count != 2)
		return 2;
	runs = strtoull(words[1], NULL, 10);
	printf("%.4f", cost(ten_in_all, runs));
	printf(" %.4f\n", cost(ten_each, runs));
	return 0;
}
