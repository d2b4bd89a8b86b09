/*
 * Strategies as the user writes them: `pct,depth=3`. A name of strategies.def is followed by
 * options; missing ones have their standard value.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "strategies/strategy.h"

/* Strategy of a campaign without the option --strategy. */
#define STRATEGY_STANDARD "portfolio"

/*
 * *index in `strategies`; *config with all options checked, thread_capacity at its maximum.
 * ERROR_USAGE with one line that lists the possibilities; then nothing is changed.
 */
int strategy_parse(
	const char *text, uint32_t *index, struct strategy_config *config, struct error *err);

/* Writes the strategy with every option, the inverse of strategy_parse(): "pct,depth=3". A text
 * beyond `size` is cut. */
void strategy_format(uint32_t index, const struct strategy_config *config, char *text, size_t size);

/*
 * Names also the part of a composite strategy that made the last run: "portfolio: pct,depth=3", as
 * findings name it.
 */
void strategy_format_run(uint32_t index, const struct strategy_config *config, const void *state,
	char *text, size_t size);

/* Writes the strategy's remark after some runs, "problem; remedy", such as on rpro's radius.
 * Returns false if there is none. */
bool strategy_remark(uint32_t index, const struct strategy_config *config, const void *state,
	char *text, size_t size);
