#ifndef RADDLE_RUNTIME_LIBC_THREADS_LIBRARY_LOCK_H
#define RADDLE_RUNTIME_LIBC_THREADS_LIBRARY_LOCK_H

#include <stdint.h>

/* Reports a futex call to the command if its code has locks that the runtime does not see. */
void library_lock_note_futex(uint64_t site);

#endif
