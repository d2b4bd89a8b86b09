/* Queries about strategy `bounded`. */
#pragma once

#include <stdint.h>

/* A run's number of priority changes, number of variables with changes, and bound of threads
 * (t). */
struct bounded_run {
	uint32_t changes, variables, threads;
};

struct bounded_run bounded_last_run(const void *state);
