/* How much a campaign explored: the verdict of a search, the estimate of all orders, and conflicting pairs. */
#pragma once

#include "explore/campaign.h"

/* `is_unmodified`: the program has no instrumented accesses, and hence no memory model but sc. */
void run_verdict_print(const struct campaign_options *options, const struct campaign_result *result,
	bool is_unmodified);
void run_verdict_print_json_orders(const struct campaign_orders *orders);
