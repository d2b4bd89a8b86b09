/*
 * Which runs are *watched*: a race detector that only watches (races are no failures) is on in the first
 * runs and in every 15th after them, because most races show in any schedule. The plan of the default
 * strategy has periods of 4 and 16 runs: with an odd interval, each of its arms is watched.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WATCHED_RUNS_FIRST 16
#define WATCHED_LONG_RUNS_FIRST 4
#define WATCHED_EVERY 15
/* In a watched run the race detector sees all accesses, so that a long run takes as much time as 15
 * others. If runs are long, the interval between watched runs therefore grows: from 15 to 31 runs at
 * run 120, and to 63 runs at run 248. Each is odd for the same reason as above. */
#define WATCHED_LONG_RUNS_EVERY 63
#define WATCHED_PER_INTERVAL 8

/* `before`: number of runs that the campaign counts before this one. */
static inline bool watched_runs_has(uint64_t number, uint64_t before, bool are_long)
{
	uint64_t every = WATCHED_EVERY;

	while (are_long && every < WATCHED_LONG_RUNS_EVERY &&
		number >= every * WATCHED_PER_INTERVAL)
		every = 2 * every + 1;
	if (number % every == 0)
		return true;
	return are_long ? before < WATCHED_LONG_RUNS_FIRST : number <= WATCHED_RUNS_FIRST;
}
