/* Budget in runs and time for the search of a simpler failing run. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "platform/platform.h"

struct budget {
	uint64_t runs;	  /* maximum number of runs */
	uint64_t time_ns; /* time after which no further run begins */
	/* Slow programs: this many runs are allowed beyond time_ns, up to slow_time_ns. 0: none. */
	uint64_t slow_runs, slow_time_ns;
};

/* Returns whether a further run is allowed after `runs` runs. `begun_ns`: monotonic clock. */
static inline bool budget_allows(const struct budget *budget, uint64_t runs, uint64_t begun_ns)
{
	uint64_t past_ns = platform_monotonic_ns() - begun_ns;

	return runs < budget->runs &&
	       (past_ns < budget->time_ns ||
		       (runs < budget->slow_runs && past_ns < budget->slow_time_ns));
}
