/*
 * Code of the C++ library, in whose functions steps are shown at the user's call. Read from symbol tables, so a
 * stripped program has none of its own.
 */
#ifndef RADDLE_RUNTIME_LIBRARY_CODE_H
#define RADDLE_RUNTIME_LIBRARY_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* Has any module such code? Set by library_code_set_up(). */
extern bool library_code_is_there;

/* Finds the code in all modules that are loaded now. Later calls do nothing. */
void library_code_set_up(void);

/*
 * The innermost return address outside of the C++ library, from `site` outwards: `site` itself where that is in the
 * program's own code, and where no such call is found. `own_frame`: of the function that `site` called.
 */
uint64_t library_code_caller(uint64_t site, const void *own_frame);

#endif
