/* Hash of a pending op, equal in every run and process unless the program varies. */
#pragma once

#include "base/hash.h"
#include "model/view.h"

/* The hash contains only the lowest bits of code addresses, because modules may be loaded at
 * different pages. */
#define STEP_PRINT_SITE_BITS 12

static inline uint64_t step_print(const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];
	const uint64_t site = op->site & ((1u << STEP_PRINT_SITE_BITS) - 1);

	return hash_pair(
		view->names[thread], op->object * UINT64_C(0x9e3779b97f4a7c15) +
					     ((uint64_t)op->kind << STEP_PRINT_SITE_BITS | site));
}
