/* Code of the C++ library, known from symbol tables: a step inside it is shown at the user's
 * call. A stripped program has no such code of its own. */
#ifndef RADDLE_RUNTIME_LIBRARY_CODE_H
#define RADDLE_RUNTIME_LIBRARY_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* A module has such code. Set by library_code_set_up(). */
extern bool library_code_is_there;

/* Finds the code in all modules loaded now. Later calls do nothing. */
void library_code_set_up(void);

/* The innermost return address outside of the C++ library, from `site` outwards; else `site`.
 * `own_frame`: the frame of the function that `site` called. */
uint64_t library_code_caller(uint64_t site, const void *own_frame);

#endif
