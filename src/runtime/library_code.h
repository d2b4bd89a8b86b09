/* Code of the C++ library: a step inside it is shown at the user's call. Read from symbol
 * tables, so a stripped program has no such code of its own. */
#ifndef RADDLE_RUNTIME_LIBRARY_CODE_H
#define RADDLE_RUNTIME_LIBRARY_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* True when a module has such code. Set by library_code_set_up(). */
extern bool library_code_is_there;

/* Finds the code in all modules loaded now. Later calls do nothing. */
void library_code_set_up(void);

/* The innermost return address outside of the C++ library, searched outwards from `site`.
 * Returns `site` itself in the program's own code, and when no such call is found. `own_frame`:
 * the frame of the function that `site` called. */
uint64_t library_code_caller(uint64_t site, const void *own_frame);

#endif
