/*
 * Settings and results of the detector `patterns`, which records access patterns. The command calls
 * these functions between runs. `state` is the detector's state in shared memory; a zeroed block
 * has the standard settings.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/pattern.h"

/* Window size: accesses per variable. Falcon found 5 sufficient and uses 10; older accesses are
 * unrelated. */
#define PATTERNS_WINDOW 10u
#define PATTERNS_WINDOW_MOST 64u
/* Limits per run: number of watched variables, and number of distinct patterns. */
#define PATTERNS_VARIABLES_MAX 24576u
#define PATTERNS_KEPT_MAX 12288u

/* Sets the window size. Must be called before the first run; 0: PATTERNS_WINDOW. */
void patterns_configure(void *state, uint32_t window);
/* Sets whether operations on locks, condition variables, semaphores and threads are recorded, too.
 * Default: no. */
void patterns_include_orders(void *state, bool has_orders);
bool patterns_includes_orders(const void *state);
/* Returns the number of distinct patterns of the last run. *patterns: in the order of first
 * occurrence. */
uint32_t patterns_of_run(void *state, const struct pattern **patterns);
/* Returns the losses of the last run: accesses to variables, and patterns, beyond the limits. */
uint64_t patterns_accesses_dropped(const void *state);
uint64_t patterns_dropped(const void *state);
