/*
 * A campaign reports the strategy that found a failure: of a portfolio the arm that made the run.
 */
#ifndef RADDLE_STRATEGIES_PORTFOLIO_H
#define RADDLE_STRATEGIES_PORTFOLIO_H

#include <stdint.h>

/* Number of member strategies, each with its options. */
uint32_t portfolio_arm_count(void);

/* The arm of the run that began last, in option syntax: "pct,depth=3". Never NULL. */
const char *portfolio_arm_name(const void *state);

/* Runs of an arm and novel results so far; any pointer may be NULL. */
void portfolio_arm_account(
	const void *state, uint32_t arm, const char **name, uint64_t *runs, uint64_t *novel);

#endif
