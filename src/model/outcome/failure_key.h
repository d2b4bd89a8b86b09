/* Numbers that are equal for equal failures while the target keeps its addresses. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/outcome/outcome.h"

/* Key of the failure's kind, code and evidence. */
uint64_t failure_key(const struct outcome *outcome);
/*
 * Returns whether a run shows the same failure as another one, or a part of it: the keys are equal, and
 * the lost wake-ups of the object have no location that the other run lacks. Two waits for one object
 * may be two failures, and a simpler schedule of the one must not replace the other.
 */
bool failure_is_within(const struct outcome *outcome, const struct outcome *other);
/*
 * Key by which a campaign recognises the failure of a run; never 0. `is_delayed`: the run had stalls
 * or delayed stores. Its failure must not hide the same failure of a run without them.
 */
uint64_t failure_run_key(const struct outcome *outcome, bool is_delayed);
