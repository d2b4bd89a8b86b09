/* Confirms a failure: a schedule that fails in every fresh process is repeatable. */
#pragma once

#include "investigate/probe/failure.h"
#include "investigate/probe/probe.h"

/* One replay may be chance in a program that depends on timing; three in a row are not. */
#define CONFIRM_REPLAYS 3

struct confirmation {
	uint32_t replays;
	/* replays that followed the schedule and ended with the same outcome kind and code */
	uint32_t failed_again;
	uint32_t diverged;   /* replays that could not follow the schedule */
	uint64_t longest_ns; /* time of the longest replay */
};

/*
 * Replays the failure at most CONFIRM_REPLAYS times. After the first replay, a replay begins only
 * if the longest one so far would end before `until_ns` (monotonic, 0: none). `params->restart` is
 * ignored. The first replay of a hang has twice the limit of the campaign's runs: a hang differs from a
 * long computation only in that it does not end.
 */
int confirm(struct confirmation *out, const struct failure *failure,
	const struct probe_params *params, uint64_t until_ns, struct error *err);

static inline bool confirmation_is_repeatable(const struct confirmation *confirmation)
{
	return confirmation->replays > 0 && confirmation->failed_again == confirmation->replays;
}
