/*
 * Finds out from symbol tables whether an address lies in code of the C++ library. Reports show a
 * step inside such code at the line where the user's code calls the library. A stripped program has
 * no symbols, so all of its own code counts as the user's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A module has such code. Set by library_code_set_up(). */
extern bool library_code_is_there;

/* Finds the code in all modules loaded now. Later calls do nothing. `walks_stacks`: runs walk stacks so often that the
 * rules of frames are kept. */
void library_code_set_up(bool walks_stacks);

/* Returns the innermost return address outside of the C++ library, from `site` outwards; else
 * `site`. `own_frame`: the frame of the function that `site` called. */
uint64_t library_code_caller(uint64_t site, const void *own_frame);
