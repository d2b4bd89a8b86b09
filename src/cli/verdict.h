/* Prints the verdict of an exhaustive strategy about the explored schedules, and the note that a memory
 * model has no effect. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/memory_model.h"
#include "strategies/strategy.h"

/* Prints a line that begins with `prefix` on stderr. `has_failed`: some schedules failed. `model`: the
 * memory model as a word, NULL for sequential consistency. `features`, of enum run_feature: those of the
 * runs that the strategy does not explore in full, such as ends of timed waits. */
void verdict_say(const struct strategy_verdict *verdict, bool has_failed, uint32_t features,
	const char *model, const char *prefix);
/* Returns "", or the words that restrict a verdict about C11: RC11 may permit further executions
 * (strategy_verdict.is_of_sequential_order). */
const char *verdict_restriction(bool is_of_sequential_order);
/* Prints a note on stderr if the program has no sites, and the model, or the one that runs are judged by
 * (--fail-on weak), is not sequential consistency. */
void verdict_say_model_without_sites(
	enum memory_model model, enum memory_model judged, bool has_memory_sites);
