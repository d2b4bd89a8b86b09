/*
 * Samples schedules with few preemptions instead of a failing one. The failing run shows which
 * accesses race or conflict. A sampled run makes few preemptions, 4 or 16, at the sites of such
 * accesses (strategies/replay/replay_preempt.h), and none elsewhere. Those without effect are left out.
 *
 * Sites count, not steps: a site's operations may be spread over the whole run. Sites of operations
 * shortly before the failure are drawn more often. Half of the runs draw from the sites that race, if
 * there are any. The runs do not depend on each other, so several probes make them side by side.
 */
#pragma once

#include "investigate/minimise/fewer_preemptions.h"

/* Searches at random for a run with the same failure and fewer preemptions, with up to `workers` processes at
 * the same time. Arguments and result are those of fewer_preemptions_search(). */
int sampled_preemptions_search(struct fewer_preemptions *search, uint32_t workers,
	struct failure *failure, struct error *err);
