/*
 * What the command says to the race detector and asks of it, between runs. The block is that of the
 * detector's state in shared memory; a block of zeros is one that knows nothing.
 */
#ifndef RADDLE_DETECTORS_RACE_H
#define RADDLE_DETECTORS_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/ids.h"

/* Pairs of sites that are let pass. A program with more of them is not helped by a longer list. */
#define RACE_IGNORED_MAX 1024u

struct race_pair {
	uint64_t site, other; /* in any order */
};

/*
 * Races that were seen while nobody wanted runs to end with one: of each pair of sites the first. Kept across
 * runs, as the ignored pairs are, among which they are from then on.
 */
#define RACE_SEEN_MAX 64u
struct race_seen {
	struct race_pair pair; /* the later access first */
	uint64_t address;
	uint8_t op, other_op; /* enum op_kind */
};

/* From now on races are seen only, and end no run. */
void race_watch(void *state);
bool race_is_watching(const void *state);
/* All that are kept. */
uint32_t race_seen_list(const void *state, const struct race_seen **seen);

/* Races between these two sites end no run from now on. False: the list is full. */
bool race_ignore(void *state, struct race_pair pair);
uint32_t race_ignored_list(const void *state, const struct race_pair **pairs);
/* Was one let pass at the last event? */
bool race_has_let_pass(const void *state);
/*
 * As the detector's observe(), of a plain access, but where there is a race, one that is let pass or another,
 * nothing is remembered and false returned: observe() is to look at it. With general registers only.
 */
struct detector_event;
bool race_passes(void *state, const struct detector_event *event);
/*
 * The same of a load or store within eight aligned bytes that is no scheduling point, where little is to be
 * done: its memory was accessed before in this run, always in the same pieces and never atomically. False:
 * nothing was done, race_passes() is to look at it. `place` is the caller's to keep with the address, 0 at
 * first.
 */
struct race_plain {
	uint64_t address;
	uint64_t site;
	uint64_t step;
	object_name object;
	uint16_t thread; /* index */
	uint8_t bytes;
	bool is_write;
};
bool race_passes_plain(void *state, const struct race_plain *access, uint32_t *place);
/* How often a race was let pass for that. */
uint64_t race_ignored_count(const void *state);
/* Runs in which memory for the detector's own state ran out, so that races may have gone unseen. */
uint64_t race_blind_runs(const void *state);

#endif
