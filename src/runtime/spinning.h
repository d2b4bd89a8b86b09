/* Loops that wait for memory to change, told by the accesses that are scheduling points. */
#ifndef RADDLE_RUNTIME_SPINNING_H
#define RADDLE_RUNTIME_SPINNING_H

#include "runtime/memory.h"

/* Where no image of the memory is restored: the threads below `count` are new ones. */
void spinning_begin_run(uint32_t count);
/*
 * The moving thread passed the point of this access and is about to do it. A thread that only repeats
 * reads whose values have not changed loses its turn until another thread has moved.
 */
void spinning_note(const struct memory_access *access);

#endif
