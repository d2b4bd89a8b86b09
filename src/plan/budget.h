/* How many runs, and how long, looking for a simpler run may take. */
#ifndef RADDLE_PLAN_BUDGET_H
#define RADDLE_PLAN_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/platform.h"

struct budget {
	uint64_t runs;	  /* no more than so many, */
	uint64_t time_ns; /* and none after so long, */
	/* but of a program whose runs take long so many all the same, within this time. 0: none. */
	uint64_t slow_runs, slow_time_ns;
};

/* Is another run within it, after so many, for what was begun at `begun_ns` of the monotonic clock? */
static inline bool budget_allows(const struct budget *budget, uint64_t runs, uint64_t begun_ns)
{
	uint64_t past_ns = platform_monotonic_ns() - begun_ns;

	return runs < budget->runs &&
	       (past_ns < budget->time_ns ||
		       (runs < budget->slow_runs && past_ns < budget->slow_time_ns));
}

#endif
