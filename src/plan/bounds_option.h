/* Parses `--bounds c=2,v=2,t=3`: one search by strategy `bounded`. `w=1` limits the weak choices of
 * any strategy. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "strategies/strategy.h"

/* Does what strategy_parse() does, for `bounded` with exactly these bounds; c, v and t must be given.
 * *weak_limit is set to w + 1 if w is given (engine_run.weak_limit). With w alone, *index and *config
 * are unchanged. */
int bounds_parse(const char *text, uint32_t *index, struct strategy_config *config,
	uint32_t *weak_limit, struct error *err);
