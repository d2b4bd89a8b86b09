/* Settings of the detector `weak`. `state` is its state in shared memory; a zeroed block is valid. */
#pragma once

#include "detectors/race.h"

/* Stops reports of a store and an access at this pair of locations in all further runs. Returns false if the
 * list of suppressed pairs is full. */
bool weak_ignore(void *state, struct race_pair pair);
