/* Detects loops that wait for memory to change, by the accesses that are scheduling points. */
#pragma once

#include "runtime/memory.h"

/* Resets the threads below `count`, where the restart restores no memory image. */
void spinning_begin_run(uint32_t count);
/* Called past the scheduling point of this access. A thread that only repeats reads of unchanged
 * values is not scheduled again until another thread has run. */
void spinning_note(const struct memory_access *access);
