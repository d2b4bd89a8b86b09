/*
 * From a failing run to a finding: repeat it, minimise it, trace it once more in a process that
 * then stands still to be looked at, and put it into words.
 */
#ifndef RADDLE_INVESTIGATE_INVESTIGATE_H
#define RADDLE_INVESTIGATE_INVESTIGATE_H

#include "investigate/confirm.h"
#include "investigate/depth.h"
#include "investigate/failure.h"
#include "investigate/minimise.h"
#include "findings/finding.h"
#include "symbols/symbols.h"

/* What a finding can do without. */
enum investigation_part { PART_REPLAYS, PART_MINIMISING, PART_PASSING_RUN, INVESTIGATION_PARTS };

struct investigation {
	struct probe_params probe; /* restart: the one the campaign uses now */
	bool without_minimising;
	/*
	 * What a finding can do without is done only if it is likely to end by then, of the monotonic clock; 0: it takes what
	 * it is worth.
	 */
	uint64_t until_ns;
	uint64_t minimise_ns; /* minimising may take; 0: what it is worth */
	uint32_t workers; /* tries of minimising that are made side by side where it pays; 0: one */
	bool measures_depth; /* and radius: where the strategy speaks of them */
	void (*minimising)(void *context, const struct minimise_progress *progress); /* or NULL */
	void *context;
	/* Results. */
	struct confirmation confirmation; /* of the schedule that is kept */
	bool is_minimal;
	unsigned left_out;  /* bits 1 << enum investigation_part: for want of time */
	uint64_t replay_ns; /* that one of them took */
	struct depth depth;
};

/*
 * `failure` becomes the minimised run. Fills of *finding what a run knows: everything but id,
 * strategy, seed and run_number. Being interrupted is no error: then what is known so far is used.
 * On failure *finding is untouched.
 */
int investigate(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);

/*
 * The failure as it was found, traced but neither confirmed nor minimised: to see whether it is wanted
 * at all. Nothing that has to do with replaying it is filled in.
 */
int investigate_glance(const struct investigation *investigation, const struct failure *failure,
	struct finding *finding, struct error *err);

/*
 * One traced run of a schedule in a process of its own, as a finding. Also for `replay --trace`.
 * The probe must have been opened with restart exec and room for a trace; its last run is this one.
 * `steps_most`: of the interleaving, from its end; 0: what a stored finding keeps.
 */
int investigate_trace(struct probe *probe, const struct probe_plan *plan, uint32_t steps_most,
	struct finding *finding, struct error *err);

/*
 * The same with the symbols of another run of the same program, which had the same modules at the same
 * addresses: reading them takes longer than the run. NULL: they are read.
 */
int investigate_trace_known(struct probe *probe, const struct probe_plan *plan,
	struct symbols *symbols, struct finding *finding, struct error *err);

#endif
