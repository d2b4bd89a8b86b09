/* Parses `--bounds c=2,v=2,t=3`: one search by strategy `bounded`. */
#pragma once

#include <stdint.h>

#include "base/error.h"
#include "strategies/strategy.h"

/* Does what strategy_parse() does, for `bounded` with exactly these bounds; c, v and t must be
 * given. */
int bounds_parse(
	const char *text, uint32_t *index, struct strategy_config *config, struct error *err);
