/*
 * Lists of directives (strategies/replay.h) as minimising needs them: taken from a schedule, mended
 * where a run under them leaves the schedule, and cut.
 */
#ifndef RADDLE_INVESTIGATE_DIRECTIVES_H
#define RADDLE_INVESTIGATE_DIRECTIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "investigate/failure.h"
#include "strategies/replay.h"

/* Sorted: those of one thread by growing `after`, in the order in which they are to be used. */
struct directives {
	struct replay_directive *items;
	uint32_t count;
	uint32_t capacity;
};

void directives_release(struct directives *directives);

/* One directive per preemption of the schedule. */
void directives_from_preemptions(struct directives *directives, const struct failure *failure);

/*
 * `run` was made under these directives and should have followed `wanted`: adds the one that was
 * missing where they part. *parted_at is that step; false: they do not part.
 */
bool directives_mend(struct directives *directives, const struct failure *wanted,
	const struct failure *run, uint64_t *parted_at);

/* `out` becomes a copy without the items [from, to). */
void directives_without(
	struct directives *out, const struct directives *directives, uint32_t from, uint32_t to);

#endif
