/*
 * What every reader promises of any bytes: it refuses them in one line with a remedy, or what it
 * read can be written and read again as the same. A broken promise ends the process.
 */
#ifndef RADDLE_TESTS_FUZZ_TARGETS_H
#define RADDLE_TESTS_FUZZ_TARGETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True when the reader took the bytes for good ones. */
typedef bool fuzz_target(const uint8_t *bytes, size_t size);

fuzz_target fuzz_schedule, fuzz_trace, fuzz_finding, fuzz_memory, fuzz_suppressions, fuzz_sites,
	fuzz_record, fuzz_walk; /* the last one: walk_target.h */

#endif
