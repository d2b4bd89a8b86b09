/* Tests a pattern as the failure's cause, by runs driven to show it or kept from it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyses/patterns.h"
#include "analyses/rate.h"
#include "commands/explain/runs/explain.h"

struct explain_cause {
	uint64_t key;	/* key of the forced pattern */
	bool is_tested; /* both sorts of runs could be made */
	bool is_cause;	/* forced runs fail and runs where it is forbidden pass */
	/* the pattern is a consequence of another cause: it does not occur where that cause is
	 * forbidden */
	bool is_consequence;
	/* failure rates of runs that showed the pattern, and that showed none of `patterns` */
	struct rate forced, forbidden;
	uint32_t forced_tries, forbidden_tries;
	uint32_t forbidden_others; /* tries that ended with another failure */
	bool could_force, could_forbid;
	/* `forced` counts runs with the pattern between the same threads as in failing runs */
	bool is_between;
	/*
	 * Patterns of one explanation, or one variable, that are forbidden together; `key` first.
	 */
	struct pattern patterns[EXPLAIN_FORBIDDEN_MAX];
	uint32_t pattern_count;
	struct pattern_ranking residue; /* ranking of the runs that showed none of them; owned */
};

void explain_cause_release(struct explain_cause *cause);

/* The extent of a pattern's test: `runs` runs of each sort, more if failures are rare. Patterns of
 * the same conflict are forbidden, too. If forced runs seldom fail, the pattern is forced again,
 * between the threads that had it in failing runs. */
struct explain_test {
	uint32_t runs;
	/* another pattern of the conflict has been tested: only a cause is of interest */
	bool is_alternative;
	uint64_t until_ns; /* deadline of explain_elapsed_ns(); the results so far are used then */
};

int explain_find_cause(struct explain *explain, const struct pattern_ranking *ranking,
	const struct pattern_record *record, const struct explain_test *test,
	struct explain_cause *out, struct error *err);

/* Returns whether the pattern makes no failure likelier: runs where raddle forces it fail as seldom
 * as the compared runs. */
bool explain_cause_is_refuted(
	const struct pattern_ranking *ranking, const struct explain_cause *cause);

/* Returns whether the pattern occurs in runs where this cause is forbidden. */
bool explain_occurs_without(const struct explain_cause *cause, uint64_t key);
