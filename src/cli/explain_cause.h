/*
 * Is a pattern that comes with a failure its cause? Runs that are driven to show it, and runs that are
 * kept from showing it, tell.
 */
#ifndef RADDLE_CLI_EXPLAIN_CAUSE_H
#define RADDLE_CLI_EXPLAIN_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyses/patterns.h"
#include "analyses/rate.h"
#include "campaign/explain.h"

struct explain_cause {
	uint64_t key;		       /* of the pattern that was forced */
	bool is_tested;		       /* both sorts of runs could be made */
	bool is_cause;		       /* forcing it fails and forbidding it passes */
	struct rate forced, forbidden; /* runs that showed it, that showed none of those below */
	uint32_t forced_tries, forbidden_tries;
	/* Patterns of the same explanation that had to be forbidden together; the first is `key`. */
	struct pattern patterns[EXPLAIN_FORBIDDEN_MAX];
	uint32_t pattern_count;
};

/*
 * Tests the record's pattern with `runs` runs of each sort; where failures are rare, with so many more
 * without it that none of them would be an accident. What else is part of its explanation
 * and comes up in failures while it is forbidden is forbidden with it: it is the same conflict.
 */
int explain_find_cause(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern_record *record, uint32_t runs, struct explain_cause *out,
	struct error *err);

#endif
