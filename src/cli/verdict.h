/* What a strategy that goes through all schedules says of those that were made, as people read it. */
#ifndef RADDLE_CLI_VERDICT_H
#define RADDLE_CLI_VERDICT_H

#include <stdbool.h>

#include "strategies/strategy.h"

/* On stderr, a line that begins with `prefix`. `has_failed`: some of the schedules did. */
void verdict_say(const struct strategy_verdict *verdict, bool has_failed, const char *prefix);

#endif
