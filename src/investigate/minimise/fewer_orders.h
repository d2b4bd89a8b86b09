/*
 * Searches a schedule with fewer preemptions near a failing one. The orders of conflicting
 * operations in the failing run (conflicts.h) are the candidate causes of the failure. The search
 * makes the default schedule with no order enforced, then with one, with two, and so on. It
 * enforces only orders that the run without them has broken: any other order changes nothing.
 *
 * A run that keeps all orders is equivalent to the failing run. Most failures need one to three of
 * hundreds of orders, which makes this search far smaller than that of fewer_preemptions.h. It
 * proves nothing: schedules with other orders may need fewer preemptions.
 */
#pragma once

#include "investigate/minimise/fewer_preemptions.h"

/* Errors: runs cannot be made, or were interrupted. Does not set `is_cut_off`. */
int fewer_orders_search(
	struct fewer_preemptions *search, struct failure *failure, struct error *err);
