/*
 * State of a campaign.
 *
 * The command's only thread polls the workers in loop.c; no lock is needed. A worker receives a
 * batch, makes its runs, reports, and receives the next batch. A scheme (scheme.h) decides which
 * runs a worker makes, and counts them.
 *
 * Invariant: with a budget in runs, findings and totals do not depend on the number of workers or
 * on their speed.
 */
#pragma once

#include "explore/campaign.h"
#include "investigate/probe/failure.h"
#include "plan/memory/chosen.h"
#include "plan/memory/memory_view.h"
#include "process/target.h"
#include "store/store_fallback.h"
#include "worker/worker.h"

struct campaign_worker {
	struct worker worker;
	bool is_busy;
	uint64_t run_first; /* runs of the batch still to be made: [run_first, run_end) */
	uint64_t run_end;
	uint64_t begun_ns;
	uint64_t runs_before; /* value of contract->totals.runs when the batch began */
	uint64_t batch;	      /* number of runs of the next batch */
	bool has_groups;      /* the worker's process has received the groups of sites (memory.c) */
	uint32_t deaths;      /* consecutive deaths by a SIGKILL that raddle did not send */
	/* exclusive.c: a report that is handled later; REPORT_NONE: none */
	enum contract_report deferred;
	bool was_ended_here; /* the campaign itself ended this process: deferred is REPORT_DIED */
	/* rounds.c: counters of the race detector when its results were last collected */
	uint64_t races_ignored, blind_runs, races_seen;
	/* Fields of tasks.c: */
	struct task *task;	       /* task that the worker executes; NULL if none */
	bool has_memory;	       /* the worker has the owner's view of shared memory */
	struct contract_totals before; /* the worker's totals before the task began */
	/* the worker repeats the owner's first run, or has repeated it */
	bool is_comparing, is_compared;
};

/* Which clocks the runs have (clocks.c). */
enum clocks_state {
	CLOCKS_GIVEN,	 /* those of the options: no run has ended */
	CLOCKS_ON_TRIAL, /* the first run failed, and is made with the real clocks */
	CLOCKS_DECIDED
};

struct campaign {
	const struct campaign_options *options;
	const struct campaign_listener *listener;
	struct campaign_result *result;
	const struct scheme *scheme;
	struct rounds *rounds; /* state of scheme_rounds */
	struct tasks *tasks;   /* state of scheme_tasks */
	struct {
		struct target target;
		struct chosen chosen;	  /* accesses that the user selected; empty: none */
		struct settings settings; /* the options' settings, with the input file resolved */
		bool reads_ours;	  /* the only run reads raddle's standard input */
		char *directory;	  /* working folder of the command, also used by replays */
	} program;
	struct store *store;
	struct store_campaign row;
	struct campaign_worker *workers;
	uint32_t worker_count;
	enum contract_restart restart;
	struct {
		uint64_t next;	    /* first run that is not assigned to a worker */
		uint64_t end;	    /* first run after those of the campaign */
		int64_t resumed_id; /* id of the campaign that this one continues; 0: none */
	} runs;
	struct {
		uint64_t started_ns;
		uint64_t deadline_ns; /* UINT64_MAX: none */
		/* time spent on failures, not counted in the rate of runs */
		uint64_t investigating_ns;
		uint64_t progress_ns;  /* time of the last call of the listener's progress() */
		uint64_t saved_ns;     /* when the store was last updated */
		uint64_t state_due_ns; /* time when state.c saves the state next */
		uint64_t ending_ns;    /* signals.c: when the program was asked to end */
	} times;
	bool has_started; /* a run that reached its first thread creation has ended */
	bool is_stopping; /* workers get no new batches */
	/* processes receive the groups of sites (chosen.h) that focused runs need */
	bool is_focused;
	/* Fields of exclusive.c: */
	struct {
		bool is_active;	   /* processes disturb each other: only worker 0 works */
		bool has_networks; /* each worker but the first has a network of its own */
		/* runs have wrong results, and must be made again */
		bool must_repeat;
		uint64_t since_ns; /* time when all other processes had ended; 0: not yet */
		/* worker whose report is being handled; or NULL */
		struct campaign_worker *reporting;
	} exclusive;
	/* Fields of clocks.c: */
	struct {
		enum clocks_state state;
		enum outcome_kind kind; /* of the first run */
		uint64_t begun_ns;	/* when the trial began */
		/* the first run has failed, but the program passes in its default order */
		bool has_default_order_passed;
	} clocks;
	/* notices that the user has received; each is given once */
	struct {
		bool start, refusal, remark, limit, spinning, stop;
		uint32_t unseen;    /* bits UNSEEN_x */
		unsigned libraries; /* number of libraries whose accesses are not seen */
		bool steps;	    /* a run ended at the limit of steps */
		bool computation;   /* the hang time was raised for a run that computes */
	} noticed;
	/* known.c: failures; failure.c: suppressed races */
	struct {
		struct known_failure *failures; /* in the order of the first report */
		uint32_t count;
		uint64_t *suppressed;
		uint32_t suppressed_count;
		uint64_t suppressed_runs; /* runs that ended with a suppressed race */
		/* Of the program's __tsan_default_suppressions() */
		struct suppressions suppressions;
		bool has_suppressions; /* they are read */
	} known;
	/* symbols of worker 0's process, loaded before that process is killed */
	struct symbols *symbols;
	struct progress *progress;
	struct store_fallback fallback; /* failure.c */
};

void campaign_notice(const struct campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Warns of behaviour that the campaign does not explore; shown also with --quiet. */
void campaign_warn(const struct campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Returns whether races that do not end a run are observed. */
bool campaign_watches_races(const struct campaign *campaign);
int campaign_open_worker(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Reports progress to the listener and the store, when due. */
int campaign_report_progress(struct campaign *campaign, struct error *err);
/* Opens the campaign with one worker and without a store, to serve batches of another process
 * (serve.h). */
int campaign_open_alone(struct campaign *campaign, struct error *err);
/* Kills all processes of the target. Also called after errors. */
void campaign_close(struct campaign *campaign);
