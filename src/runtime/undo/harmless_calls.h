/* System calls without an effect on the process: a rewind has nothing to revert. */
#pragma once

#include <stdbool.h>

bool call_is_harmless(long number, const long arguments[6]);
