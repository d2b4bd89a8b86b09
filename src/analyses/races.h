/* Checks runs that were driven towards a candidate of analysis `races`. */
#ifndef RADDLE_ANALYSES_RACES_H
#define RADDLE_ANALYSES_RACES_H

#include <stdbool.h>

#include "base/error.h"
#include "findings/candidate.h"
#include "trace/trace_reader.h"

/* Did two threads stand before the candidate's accesses to the same memory at the same time? */
int races_shown(struct trace_reader *trace, const struct candidate *candidate, bool *is_shown,
	struct error *err);

#endif
