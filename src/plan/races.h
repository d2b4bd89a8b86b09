/*
 * Data races, or departures of weak memory models, as failures: whether they are, and which pairs
 * of code locations are ignored. A pair is ignored because the user suppressed it or because it is
 * already reported. A replay must ignore the same pairs.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "detectors/race.h"
#include "model/memory_model.h"
#include "abi/contract.h"

struct symbols;

/* Settings of the detectors `race` and `weak`. All zero: neither is on. */
struct races {
	bool are_failures;
	/* the weakest model whose departures from sequential consistency are failures; MEMORY_MODEL_SC:
	 * none. A campaign that judges them detects no races. */
	enum memory_model weak;
	struct race_pair *ignored;
	uint32_t ignored_count;
};

/* Overwrites `to` without releasing it. */
void races_copy(struct races *to, const struct races *from);
void races_release(struct races *races);

/* Bytes that the detectors need in the contract. */
uint64_t races_state_bytes(const struct races *races);
/* Writes the settings into the contract, before the guest's first run. */
void races_apply(const struct races *races, struct contract *contract);
/* Makes the guest detect races that end no run. Call before its first run. */
void races_watch(struct contract *contract);
/* Points *seen to the observed races in the contract. Returns their number. */
uint32_t races_seen_list(struct contract *contract, const struct race_seen **seen);
bool races_have(const struct race_seen *seen, uint32_t count, struct race_pair pair);
/* Describes the first observed races, one line each. Returns the number of races, of which those of
 * one description count once. `symbols` NULL: uses those of the process if it still exists, else
 * leaves *text empty. */
uint32_t races_describe_seen(const struct contract *contract, struct symbols *symbols,
	const struct race_seen *seen, uint32_t count, char *text, size_t size);
/* Ignores a pair from now on, also in a guest that is running. Returns false if there are too many
 * pairs. */
bool races_ignore(struct races *races, struct race_pair pair);
bool races_ignore_in_guest(struct contract *contract, struct race_pair pair);

struct races_count {
	uint64_t ignored;
	uint64_t blind_runs;
};

struct races_count races_counted(struct contract *contract);

/* The caller owns the reference. Returns NULL if neither detector is on. */
json_t *races_to_json(const struct races *races);
/* `value` NULL: written by a release that had no race detector. */
int races_from_json(const json_t *value, struct races *out, struct error *err);
