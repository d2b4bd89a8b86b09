/*
 * Locks that are taken, given back and taken again within one critical section, with another thread's
 * taking in between: the pattern of AtomFuzzer, which raddle's own prediction is compared with.
 *
 * Park, Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008. What is
 * atomic is guessed as there: what is done while a lock is held.
 */
#ifndef RADDLE_ANALYSES_LOCK_WINDOWS_H
#define RADDLE_ANALYSES_LOCK_WINDOWS_H

#include "analyses/analysis.h"

/* Those that a run itself shows, added to `out`; `only_key`: this one only, 0: all. */
int lock_windows_shown(struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err);

#endif
