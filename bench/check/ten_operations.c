/*
 * ten_operations STRATEGY SCHEDULES: microseconds of processor time per schedule. Measured with 3 threads
 * that lock or unlock ten times in all, and with 4 threads of which 3 do so ten times each (functions.h).
 */
#include <raddle_check.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "check/functions.h"
#include "support/stopwatch.h"

static double cost(int (*function)(void *), const char *strategy, uint64_t schedules)
{
	struct raddle_result result;
	struct raddle_options options = {.strategy = strategy,
		.schedules = schedules,
		.milliseconds = 600000,
		.result = &result};
	struct stopwatch watch;

	stopwatch_start(&watch);
	if (raddle_check(function, NULL, &options) != 0 || result.schedules != schedules)
		exit(2);
	stopwatch_stop(&watch);
	return watch.cpu_us / (double)schedules;
}

int main(int count, char **words)
{
	uint64_t schedules;

	if (count != 3)
		return 2;
	schedules = strtoull(words[2], NULL, 10);
	(void)cost(ten_in_all, words[1], schedules / 20 + 1); /* stacks, caches */
	printf("%.4f", cost(ten_in_all, words[1], schedules));
	printf(" %.4f\n", cost(ten_each, words[1], schedules));
	return 0;
}
