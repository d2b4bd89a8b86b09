/*
 * Wall time and processor time (own and of children that were waited for) of a piece of a benchmark.
 */
#pragma once

#include <sys/resource.h>
#include <time.h>

/* Between start and stop the fields hold the start; after stop the differences, in microseconds. */
struct stopwatch {
	double wall_us;
	double cpu_us;
};

static inline double stopwatch_used_us(int who)
{
	struct rusage usage;

	(void)getrusage(who, &usage); /* cannot fail: both values of `who` are valid */
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static inline double stopwatch_now_us(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* a clock that always exists */
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static inline void stopwatch_start(struct stopwatch *watch)
{
	watch->cpu_us = stopwatch_used_us(RUSAGE_SELF) + stopwatch_used_us(RUSAGE_CHILDREN);
	watch->wall_us = stopwatch_now_us();
}

static inline void stopwatch_stop(struct stopwatch *watch)
{
	watch->wall_us = stopwatch_now_us() - watch->wall_us;
	watch->cpu_us =
		stopwatch_used_us(RUSAGE_SELF) + stopwatch_used_us(RUSAGE_CHILDREN) - watch->cpu_us;
}
