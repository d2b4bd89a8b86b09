/*
 * At the end of a run the processor's own clock, on standard output: of two ends that follow each other the difference is what a
 * run takes, with all that comes between. Any clock that is asked for could be raddle's.
 */
#ifndef BOUNDING_RUN_TIME_H
#define BOUNDING_RUN_TIME_H

#include <stdio.h>
#include <x86intrin.h>

static inline void run_ends(void)
{
	printf("%llu\n", (unsigned long long)__rdtsc());
}

#endif
