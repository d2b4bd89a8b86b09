/*
 * Memory that somebody wrote whom the walk did not see: a function of the library, assembly. The run shows it where a read
 * gives what no write of the run put there: of writes in between that is all that can be said, as the order of the run is not
 * known access by access. What stands there is only known where it was read.
 */
#ifndef RADDLE_BRANCHES_SOLVE_HIDDEN_H
#define RADDLE_BRANCHES_SOLVE_HIDDEN_H

#include "branches/solve/order.h"

/* Of the events of the walk. `order->events` must be there. */
void hidden_find(struct order *order);
/* Was any of these bytes written so? They may be in two words. */
bool hidden_has(const struct order *order, uint64_t address, uint32_t bytes);

#endif
