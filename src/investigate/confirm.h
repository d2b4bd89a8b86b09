/* Is a failure repeatable? Its schedule is run again in fresh processes. */
#ifndef RADDLE_INVESTIGATE_CONFIRM_H
#define RADDLE_INVESTIGATE_CONFIRM_H

#include "investigate/failure.h"
#include "investigate/probe.h"

/* One success may be luck where the machine has a say; three in a row of a rare failure are not. */
#define CONFIRM_REPLAYS 3

struct confirmation {
	uint32_t replays;
	uint32_t failed_again; /* with the same kind and code, and without leaving the schedule */
	uint32_t diverged;     /* replays that could not follow the schedule */
};

/*
 * `params->restart` is not read: every replay is a process of its own. There is one; none but that is begun after `until_ns` of
 * the monotonic clock (0: there is no such time), nor one that would end after it if it took as long as the longest.
 */
int confirm(struct confirmation *out, const struct failure *failure,
	const struct probe_params *params, uint64_t until_ns, struct error *err);

static inline bool confirmation_is_repeatable(const struct confirmation *confirmation)
{
	return confirmation->replays > 0 && confirmation->failed_again == confirmation->replays;
}

#endif
