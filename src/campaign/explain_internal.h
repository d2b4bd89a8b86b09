/* What the files that make runs for an explanation share. */
#ifndef RADDLE_CAMPAIGN_EXPLAIN_INTERNAL_H
#define RADDLE_CAMPAIGN_EXPLAIN_INTERNAL_H

#include "campaign/explain.h"
#include "campaign/explain_places.h"
#include "campaign/noise_log.h"
#include "campaign/replay_internal.h"
#include "campaign/worker.h"

/* Runs of either verdict whose schedules are kept to be shown, and schedules that are too long for it. */
#define EXPLAIN_KEPT_MAX 48u
#define EXPLAIN_KEPT_SEGMENTS 100000u

/* A pattern of a run, and between which threads it was first seen there. */
struct explain_kept_pattern {
	uint64_t key;
	thread_name names[PATTERN_PARTIES];
};

struct explain_kept {
	struct failure run;
	struct explain_kept_pattern *patterns; /* by ascending key; owned */
	uint32_t pattern_count;
};

struct explain {
	const struct finding *finding;
	const struct explain_options *options;
	struct replay_setting setting;
	struct worker worker;
	struct symbols *symbols;
	struct explain_places places;
	struct memory_view memory; /* what runs see of it, once it has been learnt */
	struct outcome
		failure; /* the finding's; OUTCOME_NONE: its schedule does not fail any more */
	uint64_t run_next;
	uint64_t opened_ns;
	struct pattern *patterns; /* of the last run, with keys by places; owned */
	uint32_t pattern_capacity;
	struct explain_kept kept[EXPLAIN_OTHER][EXPLAIN_KEPT_MAX]; /* by verdict */
	uint32_t kept_count[EXPLAIN_OTHER];
	uint64_t strategy_bytes;
	struct noise_log noise;	      /* at full speed */
	uint64_t last_ns, longest_ns; /* of these runs: the last one, and of those that passed */
	bool has_all_places;
	bool is_worker_open;
	bool is_setting_ready;
};

/* Copies patterns with keys by places. */
void explain_place_patterns(
	struct explain *explain, const struct pattern *from, uint32_t count, struct pattern *to);
/* State of the detector, in the contract. */
void *explain_patterns_state(const struct explain *explain);
/* Releases what has been kept. */
void explain_forget(struct explain *explain);
/* Keeps the run that was made last, in case it is to be shown. */
void explain_keep(struct explain *explain, const struct explain_run *run);

/* explain_noise.c: in place of their namesakes, at full speed. */
int explain_noise_run(struct explain *explain, struct error *err);
int explain_noise_learn(struct explain *explain, struct error *err);
/* Is the outcome of the kind of the failure that is explained, as far as can be told from outside? */
bool explain_noise_is_kind(const struct explain *explain, const struct outcome *outcome);

#endif
