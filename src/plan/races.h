/*
 * Races as failures: whether they are, and which pairs of places are let pass because the user
 * suppressed them or has been told of them. Part of the settings of a run: a replay must let the same
 * pairs pass to get as far.
 */
#ifndef RADDLE_PLAN_RACES_H
#define RADDLE_PLAN_RACES_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "detectors/race.h"
#include "abi/contract.h"

struct symbols;

/* All zero: races are not looked for. */
struct races {
	bool are_failures;
	struct race_pair *ignored; /* owned */
	uint32_t ignored_count;
};

/* `to` is overwritten without being released. */
void races_copy(struct races *to, const struct races *from);
void races_release(struct races *races);

/* Room that detectors need in the contract. */
uint64_t races_state_bytes(const struct races *races);
/* Tells the guest, before its first run. */
void races_apply(const struct races *races, struct contract *contract);
/* Tells the guest, before its first run, to look for races that end no run. */
void races_watch(struct contract *contract);
/* Those that it has seen. */
uint32_t races_seen_list(struct contract *contract, const struct race_seen **seen);
/* Is it one of them? */
bool races_have(const struct race_seen *seen, uint32_t count, struct race_pair pair);
/* The first of them in words, a line each. `symbols` NULL: those of the process, if it is there still; else *text is
 * empty. */
void races_describe_seen(const struct contract *contract, struct symbols *symbols,
	const struct race_seen *seen, uint32_t count, char *text, size_t size);
/* Adds the pair, also for a guest that is running. False: there are too many. */
bool races_ignore(struct races *races, struct race_pair pair);
bool races_tell(struct contract *contract, struct race_pair pair);

/* How often a pair was let pass, and the runs in which the detector ran out of memory. */
struct races_count {
	uint64_t ignored;
	uint64_t blind_runs;
};

struct races_count races_counted(struct contract *contract);

/* NULL where races are no failures. */
json_t *races_to_json(const struct races *races);
/* `value` NULL: as written before races were known. */
int races_from_json(const json_t *value, struct races *out, struct error *err);

#endif
