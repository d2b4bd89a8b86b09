/*
 * Investigation of one failing run; its result is a finding.
 *
 * Phases: confirm the failure by replays, measure its depth, minimise its schedule, and confirm the
 * minimised schedule. A last traced replay stops at the failure, and its process is inspected for
 * call stacks and symbols. A passing run is added for comparison.
 *
 * Invariant: the schedule that ends up in the finding is one that was replayed. If the minimised
 * schedule does not repeat, the finding keeps the schedule that was found.
 *
 * All functions run in the command and start target processes through a probe (probe.h).
 */
#ifndef RADDLE_INVESTIGATE_INVESTIGATE_H
#define RADDLE_INVESTIGATE_INVESTIGATE_H

#include "investigate/confirm.h"
#include "investigate/depth.h"
#include "investigate/failure.h"
#include "investigate/minimise.h"
#include "findings/finding.h"
#include "symbols/symbols.h"

/* The parts of a finding that are optional when time is short. */
enum investigation_part { PART_REPLAYS, PART_MINIMISING, PART_PASSING_RUN, INVESTIGATION_PARTS };

struct investigation {
	struct probe_params probe; /* restart: the one that the campaign uses now */
	bool without_minimising;
	/*
	 * Deadline on the monotonic clock, 0: none. An optional part starts only if it is likely to
	 * end before.
	 */
	uint64_t until_ns;
	uint64_t minimise_ns; /* limit for minimising; 0: only its own budget */
	uint32_t workers;     /* probes that may minimise side by side; 0: one */
	/* measure depth and radius; set where the strategy is priority-based */
	bool measures_depth;
	/* progress callback, or NULL */
	void (*minimising)(void *context, const struct minimise_progress *progress);
	void *context;
	/* Results. */
	struct confirmation confirmation; /* of the schedule that is kept */
	bool is_minimal;
	unsigned left_out;  /* bits 1 << enum investigation_part, omitted for lack of time */
	uint64_t replay_ns; /* duration of one replay */
	struct depth depth;
};

/*
 * Replaces `failure` by the minimised run. Fills everything of *finding that a run knows: all but
 * id, strategy, seed and run_number. An interrupt is no error: the finding is built from the
 * results so far. On error *finding is untouched.
 */
int investigate(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);

/*
 * Builds a finding from one traced run, without confirmation and minimising. The caller uses the
 * result to decide whether to investigate the failure at all. The fields about replays stay empty.
 */
int investigate_glance(const struct investigation *investigation, const struct failure *failure,
	struct finding *finding, struct error *err);

/*
 * Makes one traced run of a schedule in a process of its own and returns it as a finding. Also
 * serves `replay --trace`. The probe must have been opened with restart exec and room for a trace;
 * the run becomes its last run. `steps_most`: number of steps kept from the end of the
 * interleaving; 0: as many as a stored finding keeps.
 */
int investigate_trace(struct probe *probe, const struct probe_plan *plan, uint32_t steps_most,
	struct finding *finding, struct error *err);

/*
 * As investigate_trace(), with the symbols of another run that had the same modules at the same
 * addresses. Reading symbols takes longer than a run. NULL: the symbols are read.
 */
int investigate_trace_known(struct probe *probe, const struct probe_plan *plan,
	struct symbols *symbols, struct finding *finding, struct error *err);

#endif
