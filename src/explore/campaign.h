/*
 * A campaign: many runs of one target under one budget, and what becomes of the failures. Says
 * nothing itself; whoever listens is told, and findings are in the store before that.
 */
#ifndef RADDLE_EXPLORE_CAMPAIGN_H
#define RADDLE_EXPLORE_CAMPAIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "investigate/confirm.h"
#include "investigate/minimise.h"
#include "plan/settings.h"
#include "store/store.h"
#include "findings/finding.h"
#include "findings/suppressions.h"
#include "strategies/strategy.h"

struct remote_link;
struct memory_view;

/* When sites are off whose accesses the strategy does not need in a run (runtime/focus.h). */
enum campaign_focus {
	FOCUS_MEASURED, /* where a run has so many accesses that it pays */
	FOCUS_ALWAYS,
	FOCUS_NEVER
};

/* Pointers are the caller's and must outlive the campaign. */
struct campaign_options {
	char *const *argv;     /* the target's, NULL-terminated; argv[0] is looked for in PATH */
	const char *directory; /* where .raddle is */
	struct store *store;   /* that is to be used, and stays open; NULL: the one there */
	uint32_t strategy;     /* index in `strategies` */
	struct strategy_config strategy_config;
	uint64_t seed;
	int64_t part_of;    /* first campaign of the same command; 0: none */
	uint64_t schedules; /* 0: no limit */
	/* Of so many parts of the campaign that know nothing of each other this one, from 1; 0: it is whole. */
	uint32_t shard, shards;
	bool resumes;	    /* goes on behind the runs that the store has of this campaign */
	uint64_t time_ns;   /* 0: no limit */
	bool watches_races; /* where races are no failures: tells of those that are seen */
	/* 0: as many as there are cores, where runs can be made side by side. The result is the same. */
	uint32_t workers;
	bool is_restart_forced;
	enum contract_restart restart; /* where forced */
	struct settings settings;
	const char *variables; /* patterns (chosen.h): their accesses only; NULL: any */
	const struct suppressions *suppressions; /* of races; NULL: none */
	const struct remote_link
		*remote; /* all workers but the first are elsewhere; NULL: they are here */
	bool keep_going; /* collect distinct findings until the budget ends */
	bool without_minimising;
	bool without_forked_children; /* has_forked_children of the settings stays as it is */
	uint64_t
		store_bytes; /* findings behind so many in the store are kept without traces; 0: no limit */
	bool show_output; /* pass on what the runs print */
	enum contract_checkpoints checkpoints;
	uint64_t checkpoint_bytes; /* of memory for all of them */
	enum campaign_focus focus;
	bool has_digest; /* the result's is wanted */
	/*
	 * Each run is a batch of its own and the listener is told of it. With trace_events they are
	 * traced, so many events at most.
	 */
	bool is_one_by_one;
	const uint64_t *known_failures; /* keys (failure.h) of failures that are not looked at */
	uint32_t known_failure_count;
	uint32_t ignored; /* bit OUTCOME_x: such failures are not looked at, and are no findings */
	uint64_t trace_events;
	/* Signals that raddle is sent are the program's, of whose runs there is one: see forward.h. */
	bool forwards_signals;
	bool has_contexts; /* traces tell functions, strategies see contexts (runtime/contexts.h) */
	const struct memory_view
		*memory; /* what runs see of memory, nothing is learnt; NULL: it is */
	const volatile int *is_interrupted; /* a stop_reason (stop.h) */
	const char *runtime;		    /* libraddle.so */
};

void campaign_options_init(struct campaign_options *options);

/* What the store keeps of the campaign from its beginning on; the target's fingerprint is still to be set. */
void campaign_row_fill(struct store_campaign *row, const struct campaign_options *options,
	const struct settings *settings, enum contract_restart restart);

/* What is known after the first run. */
struct campaign_start {
	const char *program;
	bool has_memory_sites; /* raddle-cc: accesses to memory are scheduling points too */
	bool has_dispatch;     /* Syscall User Dispatch */
	uint32_t chosen_variables, chosen_sites; /* 0: none were asked for */
	enum contract_restart restart;
	uint64_t resumed_runs; /* that earlier campaigns have made, which this one continues */
};

struct campaign_progress {
	uint64_t runs;
	uint64_t failures;
	uint64_t steps;
	uint64_t elapsed_ns;
	uint64_t exploring_ns; /* without what replaying and minimising took */
	uint32_t findings;     /* distinct */
};

struct campaign_found {
	const struct finding *finding;
	bool is_new; /* the store did not have it */
	struct confirmation confirmation;
	bool is_minimal;
};

/* Every function may be NULL. `progress` comes about ten times a second. */
struct campaign_listener {
	void *context;
	void (*started)(void *context, const struct campaign_start *start);
	void (*progress)(void *context, const struct campaign_progress *progress);
	void (*confirming)(void *context, const struct failure *failure);
	void (*minimising)(void *context, const struct minimise_progress *progress);
	void (*notice)(void *context, const char *text); /* one line, lower case, no full stop */
	/*
	 * One line in the form of a notice: the campaign misses part of the program's behaviour.
	 * NULL: notice() is called instead.
	 */
	void (*warning)(void *context, const char *text);
	void (*found)(void *context, const struct campaign_found *found);
	/* Fills the state of a strategy that has to be told something; it is zeroed. */
	void (*equip)(void *context, void *strategy_state);
	/* After each batch and each failure: what the last run left in the contract. */
	void (*ran)(void *context, struct contract *contract);
	/*
	 * Where runs are handed out to several campaigns: asked at the beginning, and when all so far have
	 * been made, for the numbers of more, [first, end). May wait. False ends the campaign. NULL: its runs
	 * are its own. There is one worker then.
	 */
	bool (*more_runs)(void *context, uint64_t *first, uint64_t *end);
	/* Asked after that: true ends the campaign before its budget does. */
	bool (*is_enough)(void *context);
};

struct campaign_result {
	struct campaign_progress total;
	uint64_t outcomes[OUTCOME_KIND_COUNT];
	enum contract_restart restart; /* in the end */
	struct strategy_guarantee guarantee;
	bool has_verdict; /* the strategy goes through all runs of some kind */
	struct strategy_verdict verdict;
	uint32_t races;		   /* findings that are races */
	uint32_t races_suppressed; /* distinct ones */
	uint64_t races_let_pass;   /* times that one of those, or of the findings, came again */
	uint64_t blind_runs;	   /* in which the detector of races ran out of memory */
	uint32_t races_seen;	   /* where they are no failures: different ones */
	char races_seen_text
		[512];	 /* the first of them, a line each; empty: their names are not known */
	uint64_t digest; /* of what all runs did, in whatever order */
	uint64_t
		runs_made; /* by all workers; some of these may lie behind the failure that ended it */
	uint64_t checkpoints;  /* that runs left for others to go on from, */
	uint64_t runs_resumed; /* and runs that did */
	char checkpoint_obstacle
		[128]; /* what a run did behind which there are none; empty: nothing */
	uint32_t threads_most;
	uint64_t steps_most;
	uint32_t met;		  /* bits MET_x (model/op.h) */
	bool has_forked_children; /* set by the campaign, not by its options */
	bool is_interrupted;
	bool has_started; /* a run has reached its first thread */
	bool is_alone; /* processes of the target are in each other's way: one worker did the rest */
	bool has_no_threads;	/* the target made none: it was run once */
	bool is_unfinished;	/* the last run had not ended when the time was up */
	bool waits_for_outside; /* likewise, and it waited for input or a connection */
	struct outcome outcome; /* of that single run */
	int64_t campaign;	/* id in the store */
	uint64_t resumed_runs;	/* that earlier campaigns have made, which this one continues */
};

/* Negative where raddle could not work. Findings made before that are in the store. */
int campaign_run(const struct campaign_options *options, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err);

#endif
