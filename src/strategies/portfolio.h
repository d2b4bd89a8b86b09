#ifndef RADDLE_STRATEGIES_PORTFOLIO_H
#define RADDLE_STRATEGIES_PORTFOLIO_H

/* Returns the arm of the run that began last, in option syntax: "pct,depth=3". Never NULL. */
const char *portfolio_arm_name(const void *state);

#endif
