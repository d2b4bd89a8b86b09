/* What the command asks strategy `bounded` besides what all strategies say. */
#ifndef RADDLE_STRATEGIES_SEARCH_BOUNDED_H
#define RADDLE_STRATEGIES_SEARCH_BOUNDED_H

#include <stdint.h>

/* A run of it: so many changes at so many variables, in the bounds of so many threads. */
struct bounded_run {
	uint32_t changes, variables, threads;
};

/* The last one that was begun. */
struct bounded_run bounded_last_run(const void *state);

#endif
