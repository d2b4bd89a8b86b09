/*
 * Strategies as a person writes them: `pct,depth=3`. A name of strategies.def, then options of that
 * strategy; those not given keep their standard value.
 */
#ifndef RADDLE_PLAN_STRATEGY_OPTION_H
#define RADDLE_PLAN_STRATEGY_OPTION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "strategies/strategy.h"

/* The strategy of a campaign for which none was named. */
#define STRATEGY_STANDARD "portfolio"

/*
 * Fills *index (in `strategies`) and *config (all options checked, thread_capacity at its most).
 * ERROR_USAGE with one line that lists what is possible; then nothing is changed.
 */
int strategy_parse(
	const char *text, uint32_t *index, struct strategy_config *config, struct error *err);

/* The inverse, with every option written out: "pct,depth=3". Cut where `size` is too small. */
void strategy_format(uint32_t index, const struct strategy_config *config, char *text, size_t size);

/*
 * As strategy_format, with the part of the strategy that chose in the last run of `state` where it
 * is made of several: "portfolio: pct,depth=3". This is what a finding names.
 */
void strategy_format_run(uint32_t index, const struct strategy_config *config, const void *state,
	char *text, size_t size);

/*
 * What the runs so far have shown about the options, "problem; remedy": rpro's radius is beyond the
 * length of a run, or there are no events of the kind it is to count. False: nothing.
 */
bool strategy_remark(uint32_t index, const struct strategy_config *config, const void *state,
	char *text, size_t size);

#endif
