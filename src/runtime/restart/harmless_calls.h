/* System calls without an effect on the process: a rewind has nothing to revert. */
#ifndef RADDLE_RUNTIME_RESTART_HARMLESS_CALLS_H
#define RADDLE_RUNTIME_RESTART_HARMLESS_CALLS_H

#include <stdbool.h>

bool call_is_harmless(long number, const long arguments[6]);

#endif
