/*
 * Settings and results of the race detector. The command calls most of these functions between
 * runs. `state` is the detector's state in shared memory; a zeroed block is valid and suppresses
 * nothing.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

/* Capacity of the list of suppressed site pairs. A program with more pairs gains nothing from a
 * longer list. */
#define RACE_IGNORED_MAX 1024u

struct race_pair {
	uint64_t site, other; /* unordered pair */
};

/* Pairs of locations whose races are suppressed: no run reports them. */
struct race_pairs {
	uint32_t count;
	struct race_pair pairs[RACE_IGNORED_MAX];
};

/* Adds a pair to the suppressed ones. Returns false if the list is full: the pair is then reported. */
static inline bool race_pairs_add(struct race_pairs *list, struct race_pair pair)
{
	if (list->count == RACE_IGNORED_MAX)
		return false;
	list->pairs[list->count++] = pair;
	return true;
}

static inline bool race_pairs_have(const struct race_pairs *list, uint64_t site, uint64_t other)
{
	for (uint32_t i = 0; i < list->count; i++) {
		const struct race_pair *pair = &list->pairs[i];

		if ((pair->site == site && pair->other == other) ||
			(pair->site == other && pair->other == site))
			return true;
	}
	return false;
}

/*
 * While the detector watches (race_watch()), a race ends no run. The detector stores the first race
 * of each site pair across runs, and suppresses the pair from then on.
 */
#define RACE_SEEN_MAX 64u
struct race_seen {
	struct race_pair pair; /* pair.site is the later access */
	uint64_t address;
	uint8_t op, other_op; /* enum op_kind */
};

/* Switches watching on: from now on a race is recorded and suppressed, and ends no run. */
void race_watch(void *state);
bool race_is_watching(const void *state);
/* Returns the number of recorded races and sets *seen to them. */
uint32_t race_seen_list(const void *state, const struct race_seen **seen);

/* From now on no race is reported that ThreadSanitizer's rules exclude. */
void race_follow_thread_sanitizer(void *state);

/* Returns the number of suppressed pairs, and sets *pairs to them. */
uint32_t race_ignored_pairs(const void *state, const struct race_pair **pairs);
/* Suppresses races between these two sites from now on. Returns false if the list is full. */
bool race_ignore(void *state, struct race_pair pair);
/* Returns whether the last event was a suppressed race. */
bool race_has_suppressed(const void *state);
struct detector_event;
/* Fast path of observe() for a plain access, without vector registers. Returns false, without
 * recording the access, if it races (also if suppressed); the caller then calls observe(). */
bool race_passes(void *state, const struct detector_event *event);
/* A plain access, the argument of race_passes_plain(). */
struct race_plain {
	uint64_t address;
	uint64_t site;
	uint64_t step;
	object_name object;
	uint16_t thread; /* index */
	uint8_t bytes;
	bool is_write;
};
/*
 * Fastest path: a load or store inside an aligned eight-byte word that is no scheduling point. The
 * same byte groups must have been accessed before in this run, and never atomically. Returns false
 * if nothing was done; call race_passes(). `location`: the caller's cache per address, initially 0.
 */
bool race_passes_plain(void *state, const struct race_plain *access, uint32_t *location);
/* Returns the number of suppressed race occurrences in all runs. */
uint64_t race_ignored_count(const void *state);
/* Returns the number of runs in which the detector's memory was exhausted, so that it may have
 * missed races. */
uint64_t race_blind_runs(const void *state);
