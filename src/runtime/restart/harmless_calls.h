/*
 * System calls that leave nothing behind in the process, so that a rewind has nothing to undo.
 */
#ifndef RADDLE_RUNTIME_RESTART_HARMLESS_CALLS_H
#define RADDLE_RUNTIME_RESTART_HARMLESS_CALLS_H

#include <stdbool.h>

bool call_is_harmless(long number, const long arguments[6]);

#endif
