/* Of analysis `races`, for who drove a run towards one. */
#ifndef RADDLE_ANALYSES_RACES_H
#define RADDLE_ANALYSES_RACES_H

#include <stdbool.h>

#include "base/error.h"
#include "findings/candidate.h"
#include "trace/trace_reader.h"

/*
 * Did two threads stand before the candidate's two accesses, to the same memory, at once? So one of them is the
 * first thing that its thread does after the other one.
 */
int races_shown(struct trace_reader *trace, const struct candidate *candidate, bool *is_shown,
	struct error *err);

#endif
