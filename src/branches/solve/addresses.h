/*
 * Where accesses whose address depends on shared memory may lead under another schedule: to places that the run
 * itself shows. What a pointer or an index may be is taken from what was written in the run to where it was
 * read; of those addresses count that an access of the same size went to, or static data. Whoever uses this says so in a
 * constraint: the address is one of them.
 */
#ifndef RADDLE_BRANCHES_SOLVE_ADDRESSES_H
#define RADDLE_BRANCHES_SOLVE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>

#include "branches/solve/order.h"

/* Of the events of the walk. The order must have been built. */
void addresses_build(struct addresses *addresses, const struct order *order);
void addresses_release(struct addresses *addresses);
/* NULL: there is only the address of the run. */
const struct address_set *addresses_find(
	const struct addresses *addresses, const struct term *term);
/* Words that accesses might go to and that there are no events of: they are to be shared. How many there are. */
uint32_t addresses_share(struct walk *walk, const struct order *order);

#endif
