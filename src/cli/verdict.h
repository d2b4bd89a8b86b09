/* Prints the verdict of an exhaustive strategy about the explored schedules, and the note that a memory
 * model has no effect. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"
#include "model/memory_model.h"
#include "strategies/strategy.h"

/* Prints a line that begins with `prefix` on stderr. `has_failed`: some schedules failed. `model`: the
 * memory model as a word, NULL for sequential consistency. */
void verdict_say(const struct strategy_verdict *verdict, bool has_failed, const char *model,
	const char *prefix);
/* Returns "", or the words behind the memory model's name that restrict a claim about its executions. */
const char *verdict_restriction(uint32_t features);
/* Adds ", up to ...": what the schedules of a claim have in common with those that are not executed. */
void verdict_add_exceptions(struct strbuf *out, bool is_up_to_order, uint32_t features);
/* Prints a note on stderr if the program has no sites, and the model, or the one that runs are judged by
 * (--fail-on weak), is not sequential consistency. */
void verdict_say_model_without_sites(
	enum memory_model model, enum memory_model judged, bool has_memory_sites);
