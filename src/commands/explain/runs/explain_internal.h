/* Shared by the files that make runs for an explanation. */
#pragma once

#include "commands/explain/runs/explain.h"
#include "commands/explain/runs/explain_locations.h"
#include "investigate/replay_setting.h"
#include "worker/worker.h"
#include "strategies/directed/directed_order.h"

#define EXPLAIN_KEPT_MAX 48u
#define EXPLAIN_KEPT_SEGMENTS 100000u

/* A pattern of a run, and the threads between which it occurred first. */
struct explain_kept_pattern {
	uint64_t key;
	thread_name names[PATTERN_THREADS];
};

struct explain_kept {
	struct failure run;
	struct explain_kept_pattern *patterns; /* patterns by ascending key; owned */
	uint32_t pattern_count;
};

/* One worker and its run: explain_runs.c. */
enum explain_slot_state {
	EXPLAIN_SLOT_FREE,    /* the worker has no run */
	EXPLAIN_SLOT_PENDING, /* has a run to start */
	EXPLAIN_SLOT_BUSY,
	EXPLAIN_SLOT_DONE /* its run is finished and not yet taken */
};

struct explain_slot {
	struct worker worker;
	enum explain_slot_state state;
	uint64_t run; /* number of the run */
};

#define EXPLAIN_SLOTS_MAX 128u
#define EXPLAIN_KNOWN_MAX 64u

/* State of a round. The lessons of a round take effect in the next one. */
struct explain_round {
	uint64_t number, first;
	uint32_t runs;
	/* the worker that made the run, by position in the round */
	uint8_t maker[STRATEGY_ROUND_MOST];
};

struct explain {
	const struct finding *finding;
	const struct explain_options *options;
	struct replay_setting setting;
	struct explain_slot slots[EXPLAIN_SLOTS_MAX];
	uint32_t slot_count;
	/* Number of workers in use: one until the shared memory is known. */
	uint32_t active;
	/* exclusive run: no other worker may start one; NULL means that all may */
	struct explain_slot *only;
	struct explain_slot *made; /* worker of the run taken last, until explain_runs_resume() */
	struct explain_round round;
	/* failures seen while no other process of the program ran */
	uint64_t known[EXPLAIN_KNOWN_MAX];
	uint32_t known_count;
	bool has_learnt; /* the shared memory is known */
	bool is_directed;
	uint64_t directed_first; /* number of the first directed run */
	struct directed_order base[DIRECTED_ORDERS_MAX], known_orders[DIRECTED_ORDERS_MAX];
	uint32_t order_count;
	bool is_disturbed; /* concurrent processes of the program disturbed each other */
	struct symbols *symbols;
	struct explain_locations locations;
	struct memory_view memory; /* view that runs use once it is known */
	/* The finding's failure; OUTCOME_NONE: its schedule no longer fails. */
	struct outcome failure;
	uint64_t run_next;  /* first run that was not taken */
	uint64_t run_given; /* first run that no worker has */
	uint64_t opened_ns;
	struct pattern *patterns; /* patterns of the last run, with keys by locations; owned */
	uint32_t pattern_capacity;
	struct explain_kept kept[EXPLAIN_OTHER][EXPLAIN_KEPT_MAX]; /* kept runs by verdict */
	uint32_t kept_count[EXPLAIN_OTHER];
	uint64_t strategy_bytes;
	bool has_all_locations;
	bool has_orders; /* patterns include operations on synchronisation objects */
	bool is_setting_ready;
};

/* Copies patterns and converts their keys to locations. */
void explain_location_patterns(
	struct explain *explain, const struct pattern *from, uint32_t count, struct pattern *to);
/* Returns the state of the pattern detector in the contract. */
void *explain_patterns_state(const struct worker *worker);
void explain_forget(struct explain *explain);
/* Keeps the last run in case it is to be shown. */
void explain_keep(struct explain *explain, const struct explain_run *run);

/* Makes the next run, or takes one made ahead. It stays in explain->made until
 * explain_runs_resume(). */
int explain_runs_take(struct explain *explain, struct error *err);
void explain_runs_resume(struct explain *explain);
void explain_runs_drop(struct explain *explain);
void explain_runs_direct(
	struct explain *explain, const struct directed_order *orders, uint32_t count);
/* Lets up to `slots` workers make runs, because the shared memory is known. */
void explain_runs_spread(struct explain *explain, uint32_t slots);
