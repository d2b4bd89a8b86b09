/*
 * Hidden writes: writes to shared memory by code that the walk does not interpret, such as libc
 * functions or assembly. A read reveals one when no write of the run explains its value. The time
 * of a hidden write between two accesses is unknown. The contents of such memory are known only at
 * the reads.
 */
#ifndef RADDLE_BRANCHES_SOLVE_HIDDEN_H
#define RADDLE_BRANCHES_SOLVE_HIDDEN_H

#include "branches/solve/order.h"

/* Finds the words with hidden writes. `order->events` must be filled. */
void hidden_find(struct order *order);
/* Whether any of these bytes has hidden writes. The bytes may span two words. */
bool hidden_has(const struct order *order, uint64_t address, uint32_t bytes);

#endif
