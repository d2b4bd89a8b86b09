/*
 * Finds a lock that is acquired, released and acquired again within one critical section, with an
 * acquisition by another thread in between. This is AtomFuzzer's pattern, implemented for
 * comparison with raddle's own prediction.
 *
 * Park, Sen, "Randomized Active Atomicity Violation Detection in Concurrent Programs", FSE 2008. As
 * in the paper, a critical section is assumed to be atomic.
 */
#ifndef RADDLE_ANALYSES_LOCK_WINDOWS_H
#define RADDLE_ANALYSES_LOCK_WINDOWS_H

#include "analyses/analysis.h"

/* Adds the patterns that the run itself shows to `out`. `only_key`: only this one, 0: all. */
int lock_windows_shown(struct trace_reader *trace, const struct analysis_run *run,
	uint64_t only_key, struct candidates *out, struct error *err);

#endif
