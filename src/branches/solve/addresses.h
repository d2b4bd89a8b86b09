/*
 * Possible targets of accesses whose address depends on shared memory. The candidates come from the
 * run itself: the values that were written to where the pointer or index was read. An address is a
 * candidate only if an access of the same size went there, or if it lies in static data. A user of
 * a set must also add the constraint that the address is one of the set.
 */
#ifndef RADDLE_BRANCHES_SOLVE_ADDRESSES_H
#define RADDLE_BRANCHES_SOLVE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "branches/solve/order.h"

/* Builds the sets from the walk's events. `order` must be complete. */
void addresses_build(struct addresses *addresses, const struct order *order);
void addresses_release(struct addresses *addresses);
/* NULL: only the address of the run is possible. */
const struct address_set *addresses_find(
	const struct addresses *addresses, const struct term *term);
/*
 * Marks words as shared that accesses might go to but that have no events yet. Returns how many
 * words are new; then the events must be made again.
 */
uint32_t addresses_share(struct walk *walk, const struct order *order);

#endif
