/* Queries about rpro: the member of its grid that made the last run, and its knowledge. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rpro_events { RPRO_EVENTS_ACQUIRE, RPRO_EVENTS_ALL, RPRO_EVENTS_COUNT };

/* Bugs of this depth whose change points lie at most `radius` events apart. */
struct rpro_pair {
	uint32_t depth;
	uint64_t radius; /* 0: not applicable (depth 2) */
	bool has_many_windows;
	enum rpro_events events;
	uint64_t runs; /* number of runs of this member */
};

struct rpro_pair rpro_last_pair(const void *state);
/* Returns the number of pairs; 1 if depth and radius are given. */
uint32_t rpro_pair_count(const void *state);
struct rpro_pair rpro_pair(const void *state, uint32_t index);
/* Returns the contested events of the longest run so far, by kind of event; 0: none, or no run
 * yet. */
uint64_t rpro_length(const void *state, enum rpro_events events);
