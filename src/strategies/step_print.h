/* What a thread is about to do, as a hash that is equal in every run and in every process: by it strategies that make a run
 * again notice that it is another one. */
#ifndef RADDLE_STRATEGIES_STEP_PRINT_H
#define RADDLE_STRATEGIES_STEP_PRINT_H

#include "base/hash.h"
#include "model/view.h"

/* Of addresses of code: where a module lies may be a matter of chance, these bits are not. */
#define STEP_PRINT_SITE_BITS 12

static inline uint64_t step_print(const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const uint64_t site = op->site & ((1u << STEP_PRINT_SITE_BITS) - 1);

	return hash_pair(
		view->names[thread], op->object * UINT64_C(0x9e3779b97f4a7c15) +
					     ((uint64_t)op->kind << STEP_PRINT_SITE_BITS | site));
}

#endif
