/*
 * Violations of atomic-set serializability: the eleven orders of two units' accesses that no serial
 * execution can have had. What a run shows, or what other runs with the same events could show.
 *
 * Lai, Cheung, Chan, "Detecting Atomic-Set Serializability Violations in Multithreaded Programs through
 * Active Randomized Testing", ICSE 2010, table 1 and section 4.1. Derivations: docs/predict.md.
 */
#ifndef RADDLE_ANALYSES_VIOLATIONS_H
#define RADDLE_ANALYSES_VIOLATIONS_H

#include "analyses/unit_trace.h"
#include "findings/candidate.h"

enum violations_mode {
	VIOLATIONS_POSSIBLE, /* in a run with the same events: neither order nor locks forbid it */
	VIOLATIONS_SHOWN     /* in this one */
};

struct violations_query {
	const struct unit_trace *trace;
	struct atomic_sets *sets;
	uint32_t run; /* how places refer to it */
	enum violations_mode mode;
	uint64_t only_key; /* others are not looked for; 0: all are */
};

/* Adds them, each once by its key, without words. */
void violations_find(const struct violations_query *query, struct candidates *out);

#endif
