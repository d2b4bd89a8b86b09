/*
 * Lists of directives (strategies/replay.h) for minimising: context switches that stay meaningful
 * when others are removed. Lists are made from a schedule, completed where a run leaves it, and
 * shortened.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "investigate/probe/failure.h"
#include "strategies/replay.h"

/* Directives of one thread are sorted by `after`. */
struct directives {
	struct replay_directive *items;
	uint32_t count;
};

void directives_release(struct directives *directives);

void directives_from_preemptions(struct directives *directives, const struct failure *failure);

/* Adds the directive at which `run`, made under these, diverges from `wanted`. Returns false if the
 * runs do not diverge. */
bool directives_mend(struct directives *directives, const struct failure *wanted,
	const struct failure *run, uint64_t *parted_at);

void directives_without(
	struct directives *out, const struct directives *directives, uint32_t from, uint32_t to);
