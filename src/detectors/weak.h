/* Settings of the detector `weak`. `state` is its state in shared memory; a zeroed block is valid. */
#pragma once

#include "detectors/race.h"

/* Suppresses reports of this pair of places from now on. Returns false if the list is full. */
bool weak_ignore(void *state, struct race_pair pair);
