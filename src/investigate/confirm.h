/*
 * Confirmation of a failure: its schedule is re-executed in fresh processes. A failure that every
 * replay shows is repeatable.
 */
#ifndef RADDLE_INVESTIGATE_CONFIRM_H
#define RADDLE_INVESTIGATE_CONFIRM_H

#include "investigate/failure.h"
#include "investigate/probe.h"

/*
 * One successful replay may be chance on a program that also depends on timing. Three in a row of a
 * rare failure are not.
 */
#define CONFIRM_REPLAYS 3

struct confirmation {
	uint32_t replays;
	/* replays that followed the schedule and ended with the same outcome kind and code */
	uint32_t failed_again;
	uint32_t diverged; /* replays that could not follow the schedule */
};

/*
 * Replays `failure` up to CONFIRM_REPLAYS times, each in a process of its own; `params->restart` is
 * ignored. `until_ns` is a deadline on the monotonic clock, 0: none. The first replay is always
 * made. A further one starts only if the longest replay so far would still end before the deadline.
 */
int confirm(struct confirmation *out, const struct failure *failure,
	const struct probe_params *params, uint64_t until_ns, struct error *err);

static inline bool confirmation_is_repeatable(const struct confirmation *confirmation)
{
	return confirmation->replays > 0 && confirmation->failed_again == confirmation->replays;
}

#endif
