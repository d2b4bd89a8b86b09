/* How much a campaign explored: the verdict of a search, the estimate of all orders, and conflicting pairs. */
#pragma once

#include "explore/campaign.h"

/* `is_unmodified`: the program has no instrumented accesses, and hence no memory model but sc. */
void run_verdict_print(const struct campaign_options *options, const struct campaign_result *result,
	bool is_unmodified);
/*
 * Returns whether the count of conflicting pairs may be printed. If a failure has ended the campaign,
 * the count includes runs of other workers after the failing run, and depends on their number.
 */
bool run_verdict_has_pairs(
	const struct campaign_options *options, const struct campaign_result *result);
void run_verdict_print_json_orders(const struct campaign_orders *orders);
