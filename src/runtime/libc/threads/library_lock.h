#pragma once

#include <stdint.h>

/* Reports a futex call to the command if its code has locks that the runtime does not see. */
void library_lock_note_futex(uint64_t site);
