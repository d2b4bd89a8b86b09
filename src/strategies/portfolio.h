#pragma once

/* Returns the arm of the run that began last, in option syntax: "pct,depth=3". Never NULL. */
const char *portfolio_arm_name(const void *state);
