/*
 * Is a pattern that comes with a failure its cause? Runs that are driven to show it, and runs that are
 * kept from showing it, tell.
 */
#ifndef RADDLE_COMMANDS_EXPLAIN_EXPLAIN_CAUSE_H
#define RADDLE_COMMANDS_EXPLAIN_EXPLAIN_CAUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyses/patterns.h"
#include "analyses/rate.h"
#include "commands/explain/explain.h"

struct explain_cause {
	uint64_t key;	     /* of the pattern that was forced */
	bool is_tested;	     /* both sorts of runs could be made */
	bool is_cause;	     /* forcing it fails and forbidding it passes */
	bool is_consequence; /* of another cause: it does not come about where that is forbidden */
	struct rate forced, forbidden; /* runs that showed it, that showed none of those below */
	uint32_t forced_tries, forbidden_tries;
	uint32_t forbidden_others; /* of the tries: failed differently */
	bool could_force, could_forbid;
	bool is_between; /* `forced` is of runs with it between the same threads as in those that fail */
	/*
	 * Patterns of the same explanation, or of the same variable and one of its functions, that had to
	 * be forbidden together; the first is `key`.
	 */
	struct pattern patterns[EXPLAIN_FORBIDDEN_MAX];
	uint32_t pattern_count;
	struct pattern_ranking residue; /* of the runs that showed none of them; owned */
};

void explain_cause_release(struct explain_cause *cause);

/*
 * Tests the record's pattern with test->runs runs of each sort; where failures are rare, with so many more
 * without it that none of them would be an accident. What else is part of its explanation
 * and comes up in failures while it is forbidden is forbidden with it: it is the same conflict. If
 * forcing it fails too seldom, and it matters who the threads are, it is forced between those.
 */
struct explain_test {
	uint32_t runs;
	uint64_t until_ns; /* of explain_elapsed_ns(): then it ends with what it has */
};

int explain_find_cause(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_test *test,
	struct explain_cause *out, struct error *err);

/* Does the pattern come about in runs that were kept from this cause? */
bool explain_comes_without(const struct explain_cause *cause, uint64_t key);

#endif
