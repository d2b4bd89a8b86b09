/*
 * A campaign: many runs of one target under one budget, and the investigation of their failures.
 *
 * campaign_run() opens the workers, gives them batches of runs and collects their reports. Each new
 * failure is confirmed, minimised and stored as a finding. The campaign prints nothing: it calls
 * the listener for progress, notices and findings. A finding is in the store before the listener is
 * called.
 *
 * With one seed and a number of schedules as budget, the result does not depend on the number of
 * workers. A strategy makes its runs in rounds, as tasks, or one after the other
 * (strategies/strategy.h).
 *
 * Thread context: the command's only thread; listener functions are called in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "investigate/confirm.h"
#include "investigate/minimise/minimise.h"
#include "plan/settings.h"
#include "store/store.h"
#include "findings/finding.h"
#include "findings/suppressions.h"
#include "strategies/strategy.h"

struct remote_link;
struct memory_view;

/* When a run switches off the sites that cannot touch the variables at which its strategy preempts
 * (runtime/focus.h). */
enum campaign_focus {
	/* if the first run has many accesses, so that switching the sites saves time */
	FOCUS_MEASURED,
	FOCUS_ALWAYS,
	FOCUS_NEVER
};

/* The options of a campaign. Pointers belong to the caller and must outlive the campaign. */
struct campaign_options {
	/* ends with NULL; argv[0] is searched for in PATH */
	char *const *argv;
	/* Assignments that the caller has made and that tell this campaign from others of the same
	 * command line; NULL: none. Ends with NULL. */
	char *const *environment;
	const char *directory; /* folder that contains .raddle */
	/* stays open; NULL if the campaign opens the store of `directory` */
	struct store *store;
	uint32_t strategy;
	struct strategy_config strategy_config;
	uint64_t seed;
	int64_t part_of;    /* id of the first campaign of the same command; 0: none */
	uint64_t schedules; /* budget in runs; 0: no limit */
	/* shard `shard`, from 1, of `shards` independent shards; 0: not sharded */
	uint32_t shard, shards;
	bool resumes;	  /* continues after the runs that the store has of this campaign */
	uint64_t time_ns; /* budget in time; 0: no limit */
	/* reports observed data races, although races are no failures in this campaign */
	bool watches_races;
	bool may_omit_points; /* in long runs: docs/decisions/0034-racy-sites.md */
	/* 0: one per available core, if the strategy can use several workers */
	uint32_t workers;
	bool is_restart_forced;
	/* The restart, if is_restart_forced; else the first one to try: an earlier campaign of the
	 * program shows which ones do not work (0: none) */
	enum contract_restart restart;
	bool has_real_clocks; /* an earlier campaign has shown that the program needs them */
	/* if the first run fails, it is made with the real clocks, too (clocks.c) */
	bool tries_real_clocks;
	struct settings settings;
	/* patterns (chosen.h): accesses to only these variables are scheduling points; NULL means
	 * all */
	const char *variables;
	const struct suppressions *suppressions; /* suppressions of data races; NULL if none */
	const uint64_t *like; /* The two sites of the only race that counts; NULL: all count */
	/* all workers except worker 0 are remote; NULL if all are local */
	const struct remote_link *remote;
	bool keep_going; /* collects distinct findings until the budget ends */
	bool without_minimising;
	/* the campaign never switches has_forked_children on */
	bool without_forked_children;
	/* findings beyond this size of the store have no trace; 0: no limit */
	uint64_t store_bytes;
	bool show_output; /* prints the output of the runs */
	struct strbuf
		*output; /* receives what a program without threads prints; NULL: not wanted */
	enum contract_checkpoints checkpoints;
	uint64_t checkpoint_bytes; /* memory for all checkpoints of one worker */
	enum campaign_focus focus;
	bool has_digest; /* computes the digest of the result */
	/* Each run is a batch of its own; `trace_events` limits its trace. */
	bool is_one_by_one;
	const uint64_t *known_failures; /* keys (failure.h) of failures that are not investigated */
	uint32_t known_failure_count;
	/* bits OUTCOME_x: such failures are no findings */
	uint32_t ignored;
	uint64_t trace_events;
	/* Passes signals on to the program; requires a campaign of one run (process/forward.h). */
	bool forwards_signals;
	/* traces contain functions, strategies see call contexts (runtime/contexts.h) */
	bool has_contexts;
	/* fixed view of shared memory; NULL if runs learn it */
	const struct memory_view *memory;
	const volatile int *is_interrupted; /* a stop_reason (stop.h), set by a signal handler */
	const char *runtime;		    /* path of libraddle.so */
};

/* The caller sets argv, runtime and is_interrupted. */
void campaign_options_init(struct campaign_options *options);

/* The row that the store holds from the beginning. The caller sets the target's fingerprint. */
void campaign_row_fill(struct store_campaign *row, const struct campaign_options *options,
	const struct settings *settings, enum contract_restart restart);

/* Properties of the target that the first run shows. */
struct campaign_start {
	const char *program;
	/* compiled by raddle-cc or with -fsanitize=thread: accesses to memory are scheduling points,
	 * too */
	bool has_memory_sites;
	bool has_tsan_calls;			 /* compiled with -fsanitize=thread */
	bool has_dispatch;			 /* Syscall User Dispatch is in use */
	uint32_t chosen_variables, chosen_sites; /* 0: the user selected none */
	enum contract_restart restart;
	uint64_t resumed_runs; /* made by earlier campaigns that this one continues */
};

struct campaign_progress {
	uint64_t runs;
	uint64_t failures;
	uint64_t steps;
	uint64_t elapsed_ns;
	uint64_t exploring_ns; /* excludes the time for replaying and minimising failures */
	uint32_t findings;     /* distinct findings */
};

struct campaign_found {
	const struct finding *finding;
	bool is_new; /* the store did not contain the finding */
	/* Folder of the fallback store that has the finding; NULL: the command's store has it. */
	const char *fallback;
	struct confirmation confirmation;
};

/* Functions that a campaign calls to report. Each may be NULL. `progress` is called about ten times
 * a second. */
struct campaign_listener {
	void *context;
	void (*started)(void *context, const struct campaign_start *start);
	void (*progress)(void *context, const struct campaign_progress *progress);
	void (*confirming)(void *context, const struct failure *failure);
	void (*minimising)(void *context, const struct minimise_progress *progress);
	/* text: one line, lower case, no full stop */
	void (*notice)(void *context, const char *text);
	/* One line: the campaign misses behaviour of the program. NULL: the line goes to notice(). */
	void (*warning)(void *context, const char *text);
	void (*found)(void *context, const struct campaign_found *found);
	/* The context of the following functions, which take part in making the runs. */
	void *run_context;
	/* Sets the caller's input in the zeroed state of the strategy; NULL if the strategy needs
	 * none. */
	void (*equip)(void *context, void *strategy_state);
	/* Called after each batch and failure; the contract holds the results of the last run. */
	void (*ran)(void *context, struct contract *contract);
	/*
	 * Returns further run numbers [first, end) that a coordinator distributes to several
	 * campaigns. Called at the beginning, and when all runs are made; may block. A result
	 * of false ends the campaign, which has one worker. NULL if the campaign makes its own runs.
	 */
	bool (*more_runs)(void *context, uint64_t *first, uint64_t *end);
	/* Asked after `ran`: true ends the campaign before its budget is used up. */
	bool (*is_enough)(void *context);
};

/* Estimate of the number of all orders, up to the order of independent operations. */
struct campaign_orders {
	double count; /* 0: no estimate */
	double variance;
	uint64_t descents;
	uint64_t executed; /* orders that the search of this campaign has executed */
	double seconds;	   /* expected time of a search for the others, or for all */
	bool is_search;	   /* all runs of the campaign were those of the search */
	bool has_failure;  /* a descent failed, although no run of the campaign did */
};

struct campaign_result {
	struct campaign_progress total;
	uint64_t outcomes[OUTCOME_KIND_COUNT];
	enum contract_restart restart; /* restart in use at the end */
	struct strategy_guarantee guarantee;
	bool has_verdict; /* the strategy is an exhaustive search and gives a verdict */
	struct strategy_verdict verdict;
	struct campaign_orders orders;
	uint32_t races;		   /* findings that are data races */
	uint32_t races_suppressed; /* distinct races that match a suppression */
	uint64_t races_ignored;
	uint64_t blind_runs; /* runs in which the race detector ran out of memory */
	uint32_t races_seen; /* distinct races observed, if races are no failures */
	char races_seen_text
		[512]; /* the first of these races, one line each; empty: their names are unknown */
	bool has_own_locks; /* the target has locks that the race detector does not see */
	/* conflicting pairs of locations (engine_run.covered) */
	uint32_t pairs, pairs_in_both_orders;
	uint64_t digest; /* over all runs, independent of their order */
	/* runs of all workers, including runs after the failure that ended the campaign */
	uint64_t runs_made;
	uint64_t checkpoints;  /* checkpoints taken by runs */
	uint64_t runs_resumed; /* runs that began at a checkpoint */
	char checkpoint_obstacle
		[128]; /* the operation of a run that prevents further checkpoints; empty: none */
	/* "libfoo.so.1, libbar.so.2 and 2 more": libraries of a program with sites whose accesses are no scheduling
	 * points */
	char opaque_libraries[256];
	uint32_t threads_most;
	uint64_t steps_most;
	uint32_t features; /* bits FEATURE_x (model/feature.h) */
	/* the campaign has switched the setting on */
	bool has_forked_children;
	/* all runs have real clocks, because the first one fails with virtual time only */
	bool has_real_clocks;
	bool is_interrupted;
	bool has_started;
	/* processes of the target disturb each other: one worker made the remaining runs */
	bool is_alone;
	bool has_no_threads;	/* the target created no thread: it was run once */
	bool is_unfinished;	/* the last run had not ended when the time was up */
	bool waits_for_outside; /* is_unfinished, and the run waited for input or a connection */
	struct outcome outcome; /* outcome of that single run (has_no_threads) */
	int64_t campaign;	/* id in the store */
	uint64_t resumed_runs;	/* made by earlier campaigns that this one continues */
};

/* Returns whether all runs have ended with the status by which the program skips itself. */
static inline bool campaign_is_skipped(
	const struct campaign_options *options, const struct campaign_result *result)
{
	return options->settings.skip_status &&
	       !(options->settings.tolerated >> OUTCOME_EXIT & 1) && result->total.runs &&
	       !result->total.failures && result->outcomes[OUTCOME_EXIT] == result->total.runs;
}

/* Runs the campaign. Returns a negative error if raddle itself cannot work. Findings made before
 * the error are in the store. */
int campaign_run(const struct campaign_options *options, const struct campaign_listener *listener,
	struct campaign_result *result, struct error *err);
