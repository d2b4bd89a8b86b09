/*
 * Violations of atomic-set serializability: the eleven orders of two units' accesses that no serial
 * execution can produce. Finds those that a run shows, and those that other runs with the same
 * events could show.
 *
 * Lai, Cheung, Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs
 * through Active Randomized Testing", ICSE 2010, table 1 and section 4.1. Derivations:
 * docs/predict.md.
 */
#pragma once

#include "analyses/parties.h"
#include "findings/describe/candidate.h"

enum violations_mode {
	/*
	 * possible in a run with the same units: neither happens-before order nor locks exclude it
	 */
	VIOLATIONS_POSSIBLE,
	VIOLATIONS_SHOWN /* shown by the single, complete run of the pool */
};

struct violations_query {
	const struct party_pool *pool;
	struct atomic_sets *sets;
	enum violations_mode mode;
	uint64_t only_key; /* find this violation only; 0: all */
};

/* Adds each violation once by its key, without descriptions. */
void violations_find(const struct violations_query *query, struct candidates *out);
