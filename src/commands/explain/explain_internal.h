/* What the files that make runs for an explanation share. */
#ifndef RADDLE_COMMANDS_EXPLAIN_EXPLAIN_INTERNAL_H
#define RADDLE_COMMANDS_EXPLAIN_EXPLAIN_INTERNAL_H

#include "commands/explain/explain.h"
#include "commands/explain/explain_places.h"
#include "commands/explain/noise_log.h"
#include "investigate/replay_setting.h"
#include "worker/worker.h"
#include "strategies/directed/directed_order.h"

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

/* Whoever makes runs: explain_runs.c. */
enum explain_hand_state {
	EXPLAIN_HAND_FREE, /* it has no run */
	EXPLAIN_HAND_OWES, /* it is to make its run */
	EXPLAIN_HAND_BUSY,
	EXPLAIN_HAND_DONE /* its run waits to be taken */
};

struct explain_hand {
	struct worker worker;
	enum explain_hand_state state;
	uint64_t run; /* its number */
};

#define EXPLAIN_HANDS_MAX 128u
/* Keys of different failures that are remembered. */
#define EXPLAIN_KNOWN_MAX 64u

/*
 * What a run teaches becomes effective with the next round. Of runs that are compared it is what the strategy learns;
 * of those that are driven, what their orders do.
 */
struct explain_round {
	uint64_t number, first;
	uint32_t runs;
	uint8_t maker[STRATEGY_ROUND_MOST]; /* by place: the hand that made the run */
};

struct explain {
	const struct finding *finding;
	const struct explain_options *options;
	struct replay_setting setting;
	struct explain_hand hands[EXPLAIN_HANDS_MAX];
	uint32_t hand_count;
	uint32_t active; /* these work; the first alone until it is known what is shared */
	struct explain_hand *only; /* nobody else may set out now; NULL: all may */
	struct explain_hand *made; /* the run that was taken last, until it is let go on */
	struct explain_round round;
	uint64_t known[EXPLAIN_KNOWN_MAX]; /* failures that were seen while nobody else was there */
	uint32_t known_count;
	bool has_learnt; /* what memory is shared */
	bool is_directed;
	uint64_t directed_first; /* run since then */
	struct directed_order base[DIRECTED_ORDERS_MAX], known_orders[DIRECTED_ORDERS_MAX];
	uint32_t order_count;
	bool is_disturbed; /* processes of the program were in each other's way */
	struct symbols *symbols;
	struct explain_places places;
	struct memory_view memory; /* what runs see of it, once it has been learnt */
	struct outcome
		failure;    /* the finding's; OUTCOME_NONE: its schedule does not fail any more */
	uint64_t run_next;  /* the first that has not been taken */
	uint64_t run_given; /* the first that nobody makes */
	uint64_t opened_ns;
	struct pattern *patterns; /* of the last run, with keys by places; owned */
	uint32_t pattern_capacity;
	struct explain_kept kept[EXPLAIN_OTHER][EXPLAIN_KEPT_MAX]; /* by verdict */
	uint32_t kept_count[EXPLAIN_OTHER];
	uint64_t strategy_bytes;
	struct noise_log noise;	      /* at full speed */
	uint64_t last_ns, longest_ns; /* of these runs: the last one, and of those that passed */
	bool has_all_places;
	bool has_orders; /* patterns include operations on synchronisation objects */
	bool is_setting_ready;
};

/* Copies patterns with keys by places. */
void explain_place_patterns(
	struct explain *explain, const struct pattern *from, uint32_t count, struct pattern *to);
/* State of the detector, in the contract. */
void *explain_patterns_state(const struct worker *worker);
/* Releases what has been kept. */
void explain_forget(struct explain *explain);
/* Keeps the run that was made last, in case it is to be shown. */
void explain_keep(struct explain *explain, const struct explain_run *run);

/* ---- explain_runs.c ---- */

/* Makes the next run, or takes it where it was made ahead: explain->made has it until explain_runs_go_on(). */
int explain_runs_take(struct explain *explain, struct error *err);
void explain_runs_go_on(struct explain *explain);
/* What was made ahead is of no use, and nobody is at work any more. */
void explain_runs_drop(struct explain *explain);
/* From now on runs are driven by these orders. */
void explain_runs_direct(
	struct explain *explain, const struct directed_order *orders, uint32_t count);
/* It is known what memory is shared: from now on so many hands work, or as many as there can be. */
void explain_runs_spread(struct explain *explain, uint32_t hands);

/* explain_noise.c: in place of their namesakes, at full speed. */
int explain_noise_run(struct explain *explain, struct error *err);
int explain_noise_learn(struct explain *explain, struct error *err);
/* Is the outcome of the kind of the failure that is explained, as far as can be told from outside? */
bool explain_noise_is_kind(const struct explain *explain, const struct outcome *outcome);

#endif
