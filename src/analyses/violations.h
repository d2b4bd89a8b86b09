/*
 * Violations of atomic-set serializability: the eleven orders of two units' accesses that no serial
 * execution can have had. What a run shows, or what other runs with the same events could show.
 *
 * Lai, Cheung, Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
 * Active Randomized Testing", ICSE 2010, table 1 and section 4.1. Derivations: docs/predict.md.
 */
#ifndef RADDLE_ANALYSES_VIOLATIONS_H
#define RADDLE_ANALYSES_VIOLATIONS_H

#include "analyses/parties.h"
#include "findings/candidate.h"

enum violations_mode {
	VIOLATIONS_POSSIBLE, /* in another run with the same units: neither order nor locks forbid it */
	VIOLATIONS_SHOWN     /* in the one run that the pool is of, whole */
};

struct violations_query {
	const struct party_pool *pool;
	struct atomic_sets *sets;
	enum violations_mode mode;
	uint64_t only_key; /* others are not looked for; 0: all are */
};

/* Adds them, each once by its key, without words. */
void violations_find(const struct violations_query *query, struct candidates *out);

#endif
