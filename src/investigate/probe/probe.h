/*
 * A probe runs the target under a given schedule, once per call, and reports the outcome.
 *
 * Life cycle: probe_open(); probe_run(), any number of times; probe_close(). The contract of
 * `worker` holds outcome and schedule of the last run until the next one. A probe belongs to one
 * thread of the command.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "investigate/probe/failure.h"
#include "plan/memory/memory_view.h"
#include "plan/settings.h"
#include "worker/worker.h"
#include "strategies/replay/replay.h"
#include "strategies/replay/replay_observe.h"
#include "strategies/replay/replay_preempt.h"
#include "strategies/strategy.h"

struct probe_idle;

struct probe {
	struct worker worker;
	struct probe_idle *idle; /* of the parameters */
	const volatile int *is_interrupted;
	uint64_t run_count;	     /* number of runs so far */
	enum contract_report report; /* report of the last run */
	uint64_t diverged_step;	     /* step of the divergence */
	uint64_t step_limit;	     /* of the settings */
	bool has_diverged;	     /* the last run did not follow its exact schedule */
	bool is_failure; /* the last run failed; the contract has outcome and schedule */
};

/*
 * A closed probe whose process waits for the next probe with equal parameters. Starting the process of restart
 * rewind takes longer than many runs. Zero-initialised: none.
 */
struct probe_idle {
	struct probe probe;
	bool is_open;
};

/* The schedule to follow: segments, or falls with the value choices of the segments. */
struct probe_plan {
	enum replay_mode mode;
	const struct schedule_segment *segments;
	uint32_t segment_count;
	const struct replay_fall *falls;
	uint32_t fall_count;
	/* NULL if segments name threads by index; else by position in this array */
	const thread_name *names;
	uint32_t name_count;
	/*
	 * NULL, or the strategy that chooses, with these options and the run's seed; segments and
	 * falls are not used.
	 */
	const struct strategy *strategy;
	int64_t options[STRATEGY_OPTIONS_MAX];
	bool is_continued;    /* the strategy's state of the last run is kept */
	uint64_t batch;	      /* runs in one call, up to the first failure; 0: one */
	uint32_t op_capacity; /* mode REPLAY_OBSERVE: operations to keep */
	/* mode REPLAY_PREEMPT, with the value choices of the segments */
	const struct replay_preemption *preemptions;
	uint32_t preemption_count;
	const uint64_t *sites; /* whose operations are counted */
	uint32_t site_count;
	uint64_t step_limit;  /* a longer run ends there; 0: the limit of the settings */
	bool is_random_after; /* random choices after the last segment, with the run's seed */
	/* the schedule was composed, not recorded: replay_state_set_few_values() */
	bool knows_few_values;
	bool skips_disabled; /* same as in struct replay_state */
	bool lacks_accesses; /* same as in struct replay_state */
};

/* Bytes for a strategy state that holds schedules of any length that a contract can record. */
uint64_t probe_strategy_bytes(void);

/*
 * probe_open() fills `worker.sizes` (but a record's bytes), `.check` and limits from `settings`.
 * `trace_events` 0: no trace. A restart other than exec falls back to a slower one.
 */
struct probe_params {
	struct worker_params worker;
	const struct settings *settings;
	/* shared memory of the run to repeat, read by probe_open(); NULL means an empty view */
	const struct memory_view *memory;
	enum contract_restart restart;
	uint64_t trace_events;
	/* A trace keeps the steps from this number on, and all creations of threads. */
	uint64_t trace_from;
	bool has_contexts; /* traces record function calls and accesses (runtime/contexts.h) */
	bool has_patterns; /* runs record access patterns (detectors/patterns.h) */
	uint32_t pattern_window; /* 0: the default window */
	bool has_orders;	 /* patterns include operations on synchronisation objects */
	bool watches_races;	 /* races end no run, and races_seen_list() has them */
	bool learns_memory; /* `memory` is NULL; runs learn which memory is shared, and use it */
	uint64_t hang_ns;   /* 0: the limit of the settings */
	/* A longer run is killed and does not count as a failure; 0: no limit. */
	uint64_t run_limit_ns;
	const volatile int *is_interrupted;
	/* NULL, or where probe_close() leaves the probe, and probe_open() finds it. All probes that share it have
	 * equal parameters. */
	struct probe_idle *idle;
};

int probe_open(struct probe *probe, const struct probe_params *params, struct error *err);
void probe_close(struct probe *probe);
/* Ends the process of the idle probe, if there is one. */
void probe_idle_close(struct probe_idle *idle);
/* State of the pattern recorder; requires has_patterns. */
void *probe_patterns(const struct probe *probe);

/* Performs one run, or a batch. Never returns ERROR_DIVERGED: see has_diverged. */
int probe_run(struct probe *probe, const struct probe_plan *plan, struct error *err);

/* Starts a run; then probe_poll() until *is_over. *is_spoilt: repeat it with probe_run(). */
int probe_begin(struct probe *probe, const struct probe_plan *plan, struct error *err);
int probe_poll(struct probe *probe, bool *is_over, bool *is_spoilt, struct error *err);
/* Kills the run that is under way, which then counts as one without a failure. */
void probe_abandon(struct probe *probe);

/* Fills the contract, for callers that start the process themselves. */
void probe_fill(struct probe *probe, const struct probe_plan *plan);

/* The plan that repeats a failing run exactly. The plan refers to `failure`. */
static inline struct probe_plan probe_plan_exact(const struct failure *failure)
{
	return (struct probe_plan){
		.mode = REPLAY_EXACT,
		.segments = failure->segments,
		.segment_count = failure->segment_count,
	};
}

/* Did the last run show the same failure: kind, code, the objects and locations of its waits, and the weak
 * access? */
static inline bool probe_shows(const struct probe *probe, const struct failure *failure)
{
	return probe->is_failure &&
	       failure_is_within(&probe->worker.contract->outcome, &failure->outcome) &&
	       failure_has_weak_access(failure, &probe->worker.contract->delayed);
}
