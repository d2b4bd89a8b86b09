/* Locks of libraries that are made of futexes: interpose_library_lock.c. */
#ifndef RADDLE_RUNTIME_LIBRARY_LOCK_H
#define RADDLE_RUNTIME_LIBRARY_LOCK_H

#include <stdint.h>

/* A futex call at `site`: tells the host where that is code whose own locks are not seen. */
void library_lock_note_futex(uint64_t site);

#endif
