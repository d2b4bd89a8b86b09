/*
 * Runs of minimising that are made before their turn has come, by several probes side by side: while one candidate is tried, the
 * others try those that come next if it is not taken. What a run shows depends on its schedule and its number only, and
 * each is made with the number that it would have had; so what is taken, and what is left of a schedule, is what one
 * probe after the other would have left.
 *
 * Where a run takes less than to hand it over, one probe makes them all. Memory that runs see is frozen in probes, so none
 * learns what another does not know. Processes of the program side by side may be in each other's way: whoever asks for
 * this looks at what is left with nobody else there.
 */
#ifndef RADDLE_INVESTIGATE_TRIES_H
#define RADDLE_INVESTIGATE_TRIES_H

#include "investigate/minimise.h"

#define TRIES_MOST 16u /* probes: candidates are taken too often for more to be of use */

enum try_state { TRY_FREE, TRY_BUSY, TRY_DONE, TRY_SPOILT };

struct try_hand {
	struct probe opened;
	struct probe *probe; /* `opened`, or the minimiser's own */
	enum try_state state;
	bool is_stale;		 /* nobody wants what it is at */
	uint64_t number, digest; /* of its run and plan */
	uint64_t begun_ns;
};

struct tries {
	const struct probe_params *params;
	uint32_t wanted, count; /* hands; the others are opened when it is known that it pays */
	uint64_t pays_from_ns;	/* that a run takes */
	bool is_on, has_failed;
	uint64_t runs, runs_ns; /* that were made one after the other */
	uint64_t ahead_runs;	/* that were made before their turn, and were of use */
	struct try_hand hands[TRIES_MOST];
	struct minimise_ahead ahead; /* for minimise_params */
};

/* `params` must outlive it. Nothing is started yet. */
void tries_init(struct tries *tries, const struct probe_params *params, uint32_t hands);
void tries_release(struct tries *tries);

#endif
