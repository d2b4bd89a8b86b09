/*
 * A probe runs the target under a given schedule, once per call, and says how it ended. It is what
 * confirming, minimising, tracing and replaying are made of.
 */
#ifndef RADDLE_INVESTIGATE_PROBE_H
#define RADDLE_INVESTIGATE_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include "investigate/failure.h"
#include "plan/memory_view.h"
#include "plan/settings.h"
#include "worker/worker.h"
#include "strategies/replay.h"

struct probe {
	struct worker worker;
	const volatile int *is_interrupted;
	uint64_t run_count;	     /* runs so far */
	enum contract_report report; /* of the last run */
	uint64_t diverged_step;	     /* where, if it has */
	bool has_diverged;	     /* the last run did not follow its (exact) schedule */
	bool is_failure; /* the last run failed; the contract has outcome and schedule */
};

/* What one run is to follow: a schedule, or directives with the value choices of one. */
struct probe_plan {
	enum replay_mode mode;
	const struct schedule_segment *segments;
	uint32_t segment_count;
	const struct replay_directive *directives;
	uint32_t directive_count;
	const thread_name *names; /* NULL: segments speak of indices; else of places here */
	uint32_t name_count;
	bool is_random_after;  /* behind the segments, with the run's seed */
	bool knows_few_values; /* the schedule was put together: replay_state_set_few_values() */
};

/* Room for schedules of any length that a contract can record. */
uint64_t probe_strategy_bytes(void);

/*
 * `worker.sizes` (but for the bytes of a record), `.check` and the limits are filled in from the others; `trace_events` 0: runs are
 * not traced. `settings` is read now. Restarts but exec fall back by themselves when they must.
 */
struct probe_params {
	struct worker_params worker;
	const struct settings *settings;
	const struct memory_view *memory; /* of the run to repeat, read now; NULL: an empty one */
	enum contract_restart restart;
	uint64_t trace_events;
	uint64_t
		trace_from; /* of the steps of a traced run only these are kept, and creations of threads */
	bool has_contexts;	 /* traces tell functions and accesses (runtime/contexts.h) */
	bool has_patterns;	 /* runs record access patterns (detectors/patterns.h) */
	uint32_t pattern_window; /* 0: the standard one */
	bool has_orders;	 /* patterns include operations on synchronisation objects */
	uint64_t hang_ns;	 /* 0: that of the settings */
	uint64_t run_limit_ns; /* a run that takes longer is killed and is no failure; 0: none is */
	const volatile int *is_interrupted;
};

int probe_open(struct probe *probe, const struct probe_params *params, struct error *err);
void probe_close(struct probe *probe);
/* With has_patterns: the state of their recorder. */
void *probe_patterns(const struct probe *probe);

/* Performs one run. ERROR_DIVERGED never comes from here: see has_diverged. */
int probe_run(struct probe *probe, const struct probe_plan *plan, struct error *err);

/*
 * The same, not waited for: sets out, and asks now and then, until *is_over. *is_spoilt: the run has to be made again, with
 * probe_run(), which knows what to do about it.
 */
int probe_begin(struct probe *probe, const struct probe_plan *plan, struct error *err);
int probe_poll(struct probe *probe, bool *is_over, bool *is_spoilt, struct error *err);

/* Puts the plan into the contract without running: for whoever starts the process himself. */
void probe_fill(struct probe *probe, const struct probe_plan *plan);

/* The plan that repeats a failing run exactly; refers to `failure`. */
struct probe_plan probe_plan_exact(const struct failure *failure);

/* Has the last run failed as `failure` did: kind, code, and what it waited for where? */
bool probe_shows(const struct probe *probe, const struct failure *failure);

#endif
