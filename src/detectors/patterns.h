/*
 * What the command says to the recorder of access patterns and asks of it, between runs. The block is
 * that of the detector's state in shared memory; a block of zeros is one with standard settings.
 */
#ifndef RADDLE_DETECTORS_PATTERNS_H
#define RADDLE_DETECTORS_PATTERNS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/pattern.h"

/*
 * Accesses that are remembered of a variable. Falcon's study found 5 to be enough for its subjects and
 * takes 10; of more than a few dozen the oldest have nothing to do with the newest.
 */
#define PATTERNS_WINDOW 10u
#define PATTERNS_WINDOW_LEAST 2u
#define PATTERNS_WINDOW_MOST 64u
/* Variables that are watched in a run, and different patterns that are kept of it. */
#define PATTERNS_VARIABLES_MAX 24576u
#define PATTERNS_KEPT_MAX 12288u

/* Before the first run. `window` 0: the standard one. */
void patterns_configure(void *state, uint32_t window);
/*
 * Sets whether operations on locks, condition variables, semaphores and threads are recorded like accesses. Off
 * by default.
 */
void patterns_include_orders(void *state, bool has_orders);
bool patterns_includes_orders(const void *state);
/* At most so many patterns are kept of a run; 0: PATTERNS_KEPT_MAX. For tests and for small machines. */
void patterns_limit(void *state, uint32_t kept);

/* What the last run showed: each pattern once, in the order in which they were seen first. */
uint32_t patterns_of_run(void *state, const struct pattern **patterns);
/* What did not fit in the last run: accesses to variables beyond the limit; patterns likewise. */
uint64_t patterns_accesses_dropped(const void *state);
uint64_t patterns_dropped(const void *state);

#endif
