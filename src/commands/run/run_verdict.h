/* How much a campaign explored: the verdict of a search, the estimate of all orders, and conflicting pairs. */
#pragma once

#include "explore/campaign.h"

void run_verdict_print(
	const struct campaign_options *options, const struct campaign_result *result);
void run_verdict_print_json_orders(const struct campaign_orders *orders);
