/* Prints the verdict of an exhaustive strategy about the explored schedules. */
#pragma once

#include <stdbool.h>

#include "strategies/strategy.h"

/* Prints a line that begins with `prefix` on stderr. `has_failed`: some schedules failed. `model`: the
 * memory model as a word, NULL for sequential consistency. */
void verdict_say(const struct strategy_verdict *verdict, bool has_failed, const char *model,
	const char *prefix);
