/*
 * What the strategy `portfolio` tells about itself: a campaign names the strategy that found a
 * failure, and with a portfolio that is the arm of the run.
 */
#ifndef RADDLE_STRATEGIES_PORTFOLIO_H
#define RADDLE_STRATEGIES_PORTFOLIO_H

#include <stdint.h>

/* The strategies it is made of, each with its options. */
uint32_t portfolio_arm_count(void);

/* The arm of the run that began last, as one would write it: "pct,depth=3". Never NULL. */
const char *portfolio_arm_name(const void *state);

/* As an index below portfolio_arm_count(). */
uint32_t portfolio_arm_index(const void *state);

/* What an arm has cost and given so far; any pointer may be NULL. */
void portfolio_arm_account(
	const void *state, uint32_t arm, const char **name, uint64_t *runs, uint64_t *novel);

#endif
