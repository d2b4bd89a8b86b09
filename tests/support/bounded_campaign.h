/* Campaigns of strategy `bounded` with simulated programs, within given bounds. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "strategies/strategy.h"
#include "support/simulated_program.h"
#include "support/strategy_state.h"

/* Options in the order of bounded's table; 0: as they stand. */
struct bounds {
	int64_t preemptions, variables, threads, pruning;
};

static inline void bounded_campaign_init(struct simulated_campaign *campaign,
	const struct simulated_program *program, const struct bounds *bounds)
{
	simulated_campaign_init(campaign, program, &strategy_bounded, 0, 1);
	campaign->config.option[0] = bounds->preemptions;
	campaign->config.option[1] = bounds->variables;
	campaign->config.option[2] = bounds->threads;
	campaign->config.option[4] = 32768; /* runs: less memory to be cleared for each */
	campaign->config.option[6] = bounds->pruning;
	strategy_state_free(campaign->state, campaign->state_bytes);
	campaign->state_bytes = strategy_state_bytes(&strategy_bounded, &campaign->config);
	campaign->state = strategy_state_new(campaign->state_bytes);
	strategy_begin_campaign(&strategy_bounded, campaign->state, &campaign->config);
}
