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
#pragma once

#include "investigate/confirm.h"
#include "investigate/depth.h"
#include "investigate/probe/failure.h"
#include "investigate/minimise/minimise.h"
#include "findings/finding.h"
#include "symbols/symbols.h"

/* The parts of a finding that are optional when time is short. */
enum investigation_part { PART_REPLAYS, PART_MINIMISING, PART_PASSING_RUN, INVESTIGATION_PARTS };

struct investigation {
	struct probe_params probe; /* restart: the one that the campaign uses now */
	struct probe_idle idle;	   /* used while minimising */
	bool without_minimising;
	/* Deadline on the monotonic clock, 0: none, for starting optional parts. */
	uint64_t until_ns;
	uint64_t minimise_ns;	    /* limit for minimising; 0: only its own budget */
	uint64_t minimise_until_ns; /* deadline of minimising, set by it; 0: none */
	uint32_t workers;	    /* probes that may minimise side by side; 0: one */
	/* measure depth and radius; set where the strategy is priority-based */
	bool measures_depth;
	/* progress callback, or NULL */
	void (*minimising)(void *context, const struct minimise_progress *progress);
	void *context;
	/* Results. */
	struct confirmation confirmation; /* confirmation of the schedule that is kept */
	const char *incomplete; /* why the schedule may not be minimal; NULL: it is minimal */
	unsigned left_out;	/* bits 1 << enum investigation_part, omitted for lack of time */
	uint64_t replay_ns;	/* duration of one replay */
	struct depth depth;
};

/*
 * `failure` becomes the minimised run. Fills *finding except id, strategy, seed, run_number. An
 * interrupt is no error. An error leaves *finding untouched.
 */
int investigate(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err);

/* A finding from one traced run, without confirmation, to decide whether to investigate at all. */
int investigate_glance(const struct investigation *investigation, const struct failure *failure,
	struct finding *finding, struct error *err);

/*
 * One traced run in a process of its own. The probe has restart exec and room for a trace.
 * `steps_most`: steps from the end; 0: as in a stored finding.
 */
int investigate_trace(struct probe *probe, const struct probe_plan *plan, uint32_t steps_most,
	struct finding *finding, struct error *err);

/* Does what investigate_trace() does, with symbols of a run with the same modules and addresses;
 * NULL: reads them. */
int investigate_trace_known(struct probe *probe, const struct probe_plan *plan,
	struct symbols *symbols, struct finding *finding, struct error *err);
