/*
 * Estimates the number of all orders of a program after a campaign whose search has not ended, by
 * descents of the strategy `estimate` in a process of their own. Descents do not count as runs of
 * the campaign.
 */
#ifndef RADDLE_EXPLORE_ORDERS_H
#define RADDLE_EXPLORE_ORDERS_H

#include "explore/campaign_internal.h"

/* The part of the time budget that is reserved for descents. */
uint64_t orders_reserved_ns(const struct campaign *campaign);
/* Sets result->orders. An error leaves the campaign without an estimate. */
void orders_estimate(struct campaign *campaign);

#endif
