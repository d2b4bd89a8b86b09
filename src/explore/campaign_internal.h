/*
 * State of a campaign, shared by the files of this folder.
 *
 * One `struct campaign` holds the workers, the budget and the failures already investigated. The
 * command's only thread polls the workers in campaign_explore.c; no lock is needed. A worker
 * receives a batch, makes its runs, reports, and receives the next batch.
 *
 * Three schemes distribute runs to workers:
 * - Rounds (campaign_rounds.c): sampling strategies. Each run has a place in its round, and results
 *   are counted in the order of places.
 * - Tasks (campaign_parts.c, "parts" in identifiers): exhaustive strategies. Worker 0, the leader,
 *   owns the strategy's state. The other workers explore subtrees of it.
 * - One worker: other strategies whose runs depend on each other.
 *
 * Invariant: with a budget in runs, findings and totals do not depend on the number of workers or
 * on their speed.
 *
 * campaign.c sets up the campaign and computes totals, campaign_explore.c drives the workers,
 * campaign_failure.c investigates failures, campaign_quiet.c stops all other processes for an
 * exclusive confirmation run.
 */
#ifndef RADDLE_EXPLORE_CAMPAIGN_INTERNAL_H
#define RADDLE_EXPLORE_CAMPAIGN_INTERNAL_H

#include <stdio.h>

#include "explore/campaign.h"
#include "plan/chosen.h"
#include "investigate/failure.h"
#include "plan/memory_view.h"
#include "process/target.h"
#include "worker/worker.h"

/* A worker with the batch assigned to it. */
struct campaign_worker {
	struct worker worker;
	bool is_busy;
	uint64_t run_first; /* runs of the batch still to be made: [run_first, run_end) */
	uint64_t run_end;
	uint64_t begun_ns;
	uint64_t runs_before; /* value of contract->totals.runs when the batch began */
	uint64_t batch;	      /* number of runs of the next batch */
	bool has_groups;      /* its process knows which sites may access the same variables */
	uint32_t deaths;      /* consecutive deaths by a SIGKILL that raddle did not send */
	/*
	 * Report received during an exclusive confirmation run and handled later
	 * (campaign_quiet.c). REPORT_NONE: no report is pending.
	 */
	enum contract_report put_off;
	/* the campaign itself ended this process: put_off is REPORT_DIED */
	bool was_sent_away;
	/*
	 * Counters of the race detector when its results were last collected. races_let_pass counts
	 * occurrences of ignored races (plan/races.h).
	 */
	uint64_t races_let_pass, blind_runs, races_seen;

	/* Tasks: campaign_parts.c. */
	struct campaign_part *part;    /* task that the worker executes; NULL: none */
	bool has_memory;	       /* it has the leader's view of shared memory */
	uint32_t points;	       /* number of memory points that the leader knew then */
	struct contract_totals before; /* the worker's totals before the task began */
	/* campaign_compare.c: the worker repeats the leader's first run, or has done so */
	bool is_comparing, is_compared;
};

/* A failing run, copied from its worker for the investigation. */
struct campaign_failure {
	uint64_t key;
	struct failure failure;
	struct memory_view memory;
	enum contract_restart restart; /* restart with which the run was made */
	/* name and options of the strategy, as the user writes them */
	char *strategy;
};

/* A data race that did not end its run, and the first run that showed it. */
struct campaign_race {
	uint64_t run;
	struct race_seen seen;
};

/*
 * Sampling strategies make runs in rounds (strategies/strategy.h), so the result does not depend on
 * the number or speed of workers. Lessons of runs take effect between two rounds only. Failures are
 * investigated in the order of their runs. A campaign that ends with a failure counts the runs
 * before it and no other. Sequential strategies have no rounds. campaign_rounds.c.
 */
struct campaign_round {
	uint64_t number; /* from 1 */
	uint64_t first;	 /* number of its first run */
	uint64_t before; /* runs in all earlier rounds */
	uint32_t runs;
	uint32_t given; /* places below this one are assigned to workers */
	/* runs at places below this one are made and counted, and their failures are investigated */
	uint32_t settled;
	/* first place whose failure awaits investigation; no run after it is begun */
	uint32_t hold;
	bool has_news;	 /* runs found new shared memory: the next round has one run */
	uint64_t looks;	 /* number of one-run rounds caused by has_news */
	uint32_t layout; /* memory layout of the round's runs (model/layout.h) */
	uint32_t layout_index;
	uint64_t layout_until; /* the layout changes when `before` reaches this number */
	uint8_t is_made[STRATEGY_ROUND_MOST];
	struct contract_run log[STRATEGY_ROUND_MOST];
	uint64_t keys[STRATEGY_ROUND_MOST]; /* keys of failing runs, by place; 0: none */
	/* new failures that await investigation, sorted by run */
	struct campaign_failure *failures;
	uint32_t failure_count;
	struct race_pair *passed; /* races that end no run from the next round on */
	uint32_t passed_count;
};

/*
 * A task: a subtree of an exhaustive search (struct strategy_parts), from its split until it is
 * joined or dropped.
 */
struct campaign_part {
	uint32_t number;
	bool rests; /* the task pauses at a failure that may end the campaign */
	/* copy of the strategy's state, when no worker holds it any more */
	void *state;
	struct contract_totals totals; /* totals of the task, valid together with `state` */
	/* found by the task, in order; investigated when the task is joined */
	struct campaign_failure *failures;
	uint32_t failure_count;

	/*
	 * campaign_synchronise.c: copy of the state at the last synchronisation; NULL: the task has not
	 * been synchronised yet.
	 */
	void *told;
	struct contract_totals told_totals; /* totals of its worker at that time */
	uint32_t told_failures;
};

#define CAMPAIGN_PARTS_KEPT 64

/*
 * Task queue of an exhaustive strategy. Worker 0, the leader, owns the strategy's state; the others
 * explore subtrees of it.
 */
struct campaign_parts {
	const struct strategy_parts *strategy; /* NULL: the campaign has no tasks */
	uint32_t numbers;		       /* tasks created so far */
	uint64_t joined_runs;
	/* runs of tasks that were discarded; the leader makes these runs again */
	struct contract_totals dropped;
	/* complete tasks that are not joined yet */
	struct campaign_part *kept[CAMPAIGN_PARTS_KEPT];
	uint32_t kept_count;
	/* time after which the leader is interrupted to split off a task for an idle worker */
	uint64_t patience_ns;
	/* last epoch assigned to another worker's state (contract_plan.episode) */
	uint32_t episodes;
	bool is_telling;  /* a synchronisation is due: all workers are asked to stop */
	uint64_t told_ns; /* end of the last synchronisation */

	/* campaign_compare.c */
	bool compares; /* workers repeat the leader's first run before their first task */
	bool differ;   /* a repetition had a different digest */
	uint64_t first_run, first_digest;
	uint64_t compared_runs; /* runs made only for this comparison */
};

/* Progress of the campaign over time, for charts. campaign_course.c. */
#define COURSE_MOMENTS_MAX 240

struct course_moment {
	uint64_t elapsed_ns, runs, failures;
	uint32_t findings;
	uint32_t covered; /* pairs of places: see engine_run.covered */
};

struct campaign_course {
	struct course_moment moments[COURSE_MOMENTS_MAX];
	uint32_t count;
	uint64_t every_ns;
	uint64_t covered[CONTRACT_COVERED_WORDS]; /* union over all workers */
};

struct campaign {
	const struct campaign_options *options;
	const struct campaign_listener *listener;
	struct campaign_result *result;
	struct target target;
	struct store *store;
	struct store_campaign row;
	/* accesses that are scheduling points; empty: the user selected none */
	struct chosen chosen;
	struct settings settings; /* the options' settings, with the input file resolved */
	/* the only run reads raddle's standard input: a pipe or a socket */
	bool reads_ours;
	char *directory; /* working folder of the command, also used by replays */
	struct campaign_worker *workers;
	uint32_t worker_count;
	enum contract_restart restart;
	uint64_t run_next; /* first run that is not assigned to a worker */
	uint64_t run_end;  /* first run after those of the campaign */
	uint64_t started_ns;
	uint64_t deadline_ns;	   /* UINT64_MAX: none */
	uint64_t investigating_ns; /* time spent on failures, excluded from the rate of runs */
	uint64_t progress_ns;	   /* when the listener's progress() was last called */
	uint64_t saved_ns;	   /* when the store was last updated */
	bool has_started;	   /* a run that reached its first thread creation has ended */
	bool is_alone; /* processes of the target disturb each other: only worker 0 works */
	/* when all other processes were gone, after is_alone was set; 0: not yet */
	uint64_t alone_ns;
	bool is_disturbed; /* is_alone was set because of a wrong result: runs must be made again */
	/* worker whose report is handled at the moment; or NULL */
	struct campaign_worker *reporting;
	bool is_focused; /* processes need the groups of sites (chosen.h) */
	/* the listener has been called with the properties of the target */
	bool has_told_start;
	/* the user was warned: why accesses to memory are not seen */
	bool has_told_refusal;
	/* the user was notified: unusual values of the strategy's options */
	bool has_told_remark;
	/* the user was notified: further findings have no traces */
	bool has_told_limit;
	bool has_told_spinning; /* the user was warned: threads wait by reading memory */
	uint32_t warned_unseen; /* bits UNSEEN_x that the user was warned of */
	/* the user was notified: the program has not ended after a signal */
	bool has_told_stop;
	uint64_t asked_to_end_ns; /* when that signal was passed on; 0: not yet */
	bool is_stopping;	  /* no new batches */
	bool is_over;		  /* runs that are not settled do not count */
	bool has_rounds;
	struct campaign_round *round;
	void *knowledge;		/* the strategy's state with the lessons of all workers */
	struct contract_totals counted; /* totals of settled runs */
	uint64_t races_let_pass, blind_runs; /* likewise of settled runs */
	struct campaign_race *races_seen;    /* sorted by run at the end */
	uint32_t races_seen_count;
	struct symbols *symbols;  /* of worker 0's process, loaded before that process is killed */
	uint64_t suppressed_runs; /* runs that ended with a suppressed race */
	uint64_t *suppressed;	  /* failure keys of suppressed races */
	uint32_t suppressed_count;
	struct campaign_parts parts;
	int64_t resumed_id;    /* id of the campaign that this one continues; 0: none */
	uint64_t state_due_ns; /* campaign_state.c: when the state is saved next */
	struct campaign_course course;
	/*
	 * campaign_spare.c: fallback store for findings that the store refused; NULL: it refused
	 * none.
	 */
	struct store *spare;
	int64_t spare_campaign;
	char spare_folder[256];
	uint64_t *keys; /* keys of failures that have been investigated */
	uint32_t key_count;
};

/* Calls the listener's notice() with a formatted line. */
void campaign_notice(const struct campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/*
 * Warns of behaviour that the campaign does not explore or does not see. Unlike a notice, a warning
 * is also shown where the user asked for findings only.
 */
void campaign_warn(const struct campaign *campaign, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* True if the strategy has made every run of the program that it knows of. campaign_runs.c. */
bool campaign_is_exhausted(const struct campaign *campaign, struct contract *contract);
/* Sets row.run_first, run_next and run_end from the other members of the row. campaign_runs.c. */
int campaign_find_runs(struct campaign *campaign, struct error *err);
/*
 * After the first run: do the strategy and the program profit from switching sites off?
 * campaign_focus.c.
 */
bool campaign_wants_focus(const struct campaign *campaign, struct contract *contract);
/* Informs a worker's process which sites may access which variables. */
void campaign_tell_groups(struct campaign *campaign, struct campaign_worker *worker);

/* Number of runs not assigned to a worker. */
uint64_t campaign_runs_left(const struct campaign *campaign);
/* Asks the listener's more_runs() for further runs, if no run is left. */
void campaign_ask_for_runs(struct campaign *campaign);
/* All runs below this number have been made. Meaningless where more_runs() distributes runs. */
uint64_t campaign_runs_made(const struct campaign *campaign);

/*
 * campaign_notices.c. A run has reached its first thread creation: reports the properties of the
 * target once.
 */
void campaign_tell_start(struct campaign *campaign, const struct campaign_worker *worker);
/*
 * Warns once of each kind of operation that raddle does not see in the runs. Called repeatedly, and
 * when the campaign ends.
 */
void campaign_warn_unseen(struct campaign *campaign);

/* ---- campaign_state.c: exhaustive searches that a later campaign continues ---- */

/*
 * Saves the strategy's state if that is due or `is_last`. Does nothing while worker 0 is busy.
 * Removes the saved state when the search is complete.
 */
void state_save(struct campaign *campaign, bool is_last);
/* True if campaign `id` has left a saved state. */
bool state_is_kept(const struct campaign *campaign, int64_t id);
/* *run: number of the next run in the saved state of the campaign that this one continues. */
int state_find(const struct campaign *campaign, uint64_t *run, struct error *err);
/* Loads the saved state into worker 0, before its first run. */
int state_load(struct campaign *campaign, struct error *err);

/* ---- campaign_state_parts.c ---- */

/* Write all tasks into the state file, and read them back. False: an error of the file. */
bool state_write_parts(struct campaign *campaign, FILE *file, bool is_last);
bool state_read_parts(struct campaign *campaign, FILE *file);

/*
 * campaign_signals.c. Passes signals that raddle received on to the program, if the campaign has
 * one run.
 */
void campaign_pass_signals_on(struct campaign *campaign);
bool campaign_is_interrupted(const struct campaign *campaign);
/*
 * Grace period at the end of a campaign: unfinished runs may complete within this time, then their
 * processes are killed.
 */
uint64_t campaign_end_grace_ns(const struct campaign *campaign);

/* ---- campaign_parts.c: exhaustive search by several workers ---- */

/* Enables tasks if the strategy supports them and there is more than one worker. */
void parts_begin(struct campaign *campaign);
/*
 * True if the exact runs and their order must not depend on the number of workers. False: only
 * their number matters.
 */
bool parts_are_exact(const struct campaign *campaign);
void parts_release(struct campaign *campaign);
/* Discards a complete task that is not joined; the leader makes its runs again. */
void parts_forget_kept(struct campaign *campaign, uint32_t index);
/* Discards all tasks. */
void parts_drop_all(struct campaign *campaign);
/*
 * The leader has reported. Joins the tasks that come next in its order, and splits off tasks for
 * idle workers. *may_go_on: false where the leader must wait for a task.
 */
int parts_lead_on(struct campaign *campaign, bool *may_go_on, struct error *err);
/* Starts or continues the worker's task. */
int parts_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Handles the report of a worker other than the leader. */
int parts_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err);
/* True if the worker has completed its task and still holds the state of it. */
bool parts_is_done(const struct campaign *campaign, const struct campaign_worker *worker);
/* Totals of the worker's current task. */
struct contract_totals parts_totals(const struct campaign_worker *worker);
/*
 * Copies the leader's view of shared memory to the worker. Kills the worker's process if that began
 * with another view.
 */
void parts_teach_memory(struct campaign *campaign, struct campaign_worker *worker);
/*
 * Called while the leader and all stopped workers are idle. Synchronises their tasks and lets them
 * continue. Complete tasks leave their worker, except the task that is joined next.
 */
int parts_settle(struct campaign *campaign, struct error *err);

/*
 * campaign_synchronise.c: synchronisation of the leader with the other workers (strategy_parts.tell). True
 * if this campaign synchronises its tasks.
 */
bool parts_tell_each_other(const struct campaign *campaign);
/*
 * Nanoseconds until the next synchronisation; 0: due now, and all workers were asked to stop.
 * UINT64_MAX: none.
 */
uint64_t parts_due(struct campaign *campaign);
/*
 * Synchronises the worker's task with the leader; both must be idle. False: the task was useless
 * and is dropped.
 */
bool parts_tell(struct campaign *campaign, struct campaign_worker *worker);
/* Discards the worker's task; the leader makes its runs again. */
void parts_drop(struct campaign *campaign, struct campaign_worker *worker);
/* Adds `sign` times `from`, modulo 2^64: UINT64_MAX subtracts. */
void parts_add_totals(
	struct contract_totals *to, const struct contract_totals *from, uint64_t sign);

/* Number of runs made, counted in the order of a single worker. */
uint64_t parts_runs_done(const struct campaign *campaign);
/*
 * campaign_compare.c: checks that the program does the same in the processes of all workers. Before
 * the first run.
 */
void compare_begin(struct campaign *campaign);
/* The leader has reported: remembers the digest of its first run. */
void compare_note_first(struct campaign *campaign, enum contract_report report);
/* True if the worker must repeat the first run before it receives a task. */
bool compare_is_due(const struct campaign *campaign, const struct campaign_worker *worker);
bool compare_is_under_way(const struct campaign *campaign);
/* Kills the worker's process and starts the repetition of the first run. */
int compare_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * Handles the report of a worker that repeated the first run. A different digest starts a second
 * repetition, for which campaign_clear_way() may stop all runs. If processes disturb each other,
 * the campaign sets is_disturbed and is_alone and forgets the stopped runs.
 */
int compare_take(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err);
/* Ends all comparisons under way. */
void compare_forget(struct campaign *campaign);
/* Writes the view of memory that holds before any run. campaign_part_memory.c. */
void campaign_tell_memory(const struct campaign *campaign, struct campaign_worker *worker);

/* Adds the totals of the other workers' tasks, except dropped ones. */
void parts_add_up(const struct campaign *campaign, struct contract_totals *totals);
/*
 * Interrupts the leader when another worker is idle, or starts a due synchronisation. Returns the
 * time until the next of these is due, in nanoseconds; UINT64_MAX: none.
 */
uint64_t parts_wake(struct campaign *campaign);
/*
 * The campaign ends. `is_cut`: before its search was complete; failures of tasks that are not
 * joined are investigated then.
 */
int parts_end(struct campaign *campaign, bool is_cut, struct error *err);

/* Records the current progress if that is due, or in any case with `is_due`. */
void course_note(struct campaign *campaign, bool is_due);
/* The recorded progress as the store holds it, a JSON array. The caller frees it. */
char *course_text(const struct campaign_course *course);

/* ---- campaign_spare.c ---- */

/*
 * Keeps a finding that the store refused, with error `err`, in a fallback store. Negative:
 * impossible, and `err` is unchanged.
 */
int spare_keep(struct campaign *campaign, struct finding *finding, bool *is_new, struct error *err);
/* At the end: reports where the findings of the fallback store are. */
void spare_notify(struct campaign *campaign);

/* ---- campaign_verdict.c ---- */

/* Fills the verdict of the result from the strategy's state in `contract`. */
void verdict_take(struct campaign *campaign, struct contract *contract);
/* Stores which shard this campaign is, and, when `is_over`, its verdict. */
int verdict_keep(struct campaign *campaign, bool is_over, struct error *err);

/* A campaign with one worker and no store, which serves batches of another process (serve.h). */
int campaign_open_alone(struct campaign *campaign, struct error *err);
void campaign_close_alone(struct campaign *campaign);

/*
 * Makes runs until the budget ends, a finding ends the campaign, or the user interrupts.
 * campaign_explore.c.
 */
int campaign_explore(struct campaign *campaign, struct error *err);
/* Reports progress to the listener and the store, when due. */
int campaign_tell_progress(struct campaign *campaign, struct error *err);

/*
 * The worker's last run failed: copies the failure. False: the failure is known or ignored, and
 * `out` needs no release. Otherwise the caller releases `out`.
 */
bool campaign_catch_failure(struct campaign *campaign, const struct campaign_worker *from,
	struct campaign_failure *out);
void campaign_failure_release(struct campaign_failure *failure);
/*
 * Investigates the failure unless its key is known, and stores the finding. Sets
 * campaign->is_stopping where the finding ends the campaign.
 */
int campaign_look_into(
	struct campaign *campaign, const struct campaign_failure *failure, struct error *err);

/* ---- rounds: campaign_rounds.c ---- */

/* Allocates the round and the strategy's knowledge, and begins the first round. */
void rounds_open(struct campaign *campaign);
void rounds_close(struct campaign *campaign);
/*
 * Assigns runs to the worker, in run_first and run_end, and fills the plan's round. False: none
 * available now.
 */
bool rounds_give(struct campaign *campaign, struct campaign_worker *worker);
/* The worker has made its runs below `end`. */
void rounds_take(struct campaign *campaign, struct campaign_worker *worker, uint64_t end);
/* The worker's last run, not yet passed to rounds_take(), failed. */
void rounds_take_failure(struct campaign *campaign, struct campaign_worker *worker);
/*
 * Counts complete runs in order, investigates failures, ends a complete round and begins the next.
 * With `is_last` no further run will be made, and every run made so far counts.
 */
int rounds_advance(struct campaign *campaign, bool is_last, struct error *err);
/* Adds runs that are made but not settled: for progress only. */
void rounds_add_unsettled(const struct campaign *campaign, struct contract_totals *totals);

/*
 * True if a signal that raddle received and passed on killed the worker's last run. Such a run is
 * no failure and is not counted. The campaign then ends as if the user had interrupted raddle.
 */
bool campaign_was_ended(struct campaign *campaign, struct campaign_worker *worker);

/*
 * The server process of a worker's runs has ended. Returns an error, or 0 if the worker may start
 * again, possibly with another restart.
 */
int campaign_worker_died(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * `restart` cannot be used for this target because of `reason`. Switches to the next more faithful
 * restart and prints one notice. `is_shared`: a fork at the first thread creation is unsuitable
 * too. Fails where the restart was forced or is the last one.
 */
int campaign_fall_back(struct campaign *campaign, enum contract_restart restart, const char *reason,
	bool is_shared, struct error *err);

/* Opens a worker that has made no run yet. campaign.c. */
int campaign_open_worker(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * True if the first run shows that forked children create threads, and the settings allow to
 * explore children.
 */
bool campaign_must_include_children(
	const struct campaign *campaign, const struct campaign_worker *worker);
/* Restarts the campaign with the setting has_forked_children. */
int campaign_include_children(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/*
 * A worker's process ended before its first thread creation, but worker 0's process did not. The
 * two compete for a resource: a port, a file, a name. From now on worker 0 works alone; the run is
 * made again.
 */
int campaign_go_on_alone(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/* ---- campaign_quiet.c: exclusive confirmation runs ---- */

/* Number of the first run not made, for a batch that has ended or was stopped. */
uint64_t campaign_end_of_batch(const struct campaign_worker *worker);
/*
 * As worker_poll(), but a deferred report comes first. With is_one_by_one, reports come in the
 * order of runs.
 */
int campaign_poll(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err);
/*
 * Stops all local processes of the target for an exclusive confirmation run. Reports that arrive
 * meanwhile are deferred.
 */
int campaign_clear_way(struct campaign *campaign, struct error *err);
/*
 * After is_alone was set: ends the processes of all other workers. Results of batches that began
 * earlier may be wrong.
 */
int campaign_end_others(struct campaign *campaign, struct error *err);
/*
 * True if a failure did not repeat in exclusive confirmation runs although other processes ran
 * beside its run. The failure does not count then. Sets is_disturbed, and one worker makes the run
 * and all later ones.
 */
bool campaign_doubt_others(struct campaign *campaign, const struct confirmation *confirmation);
/*
 * Detects that the target binds a name that its other processes would bind as well. One worker
 * continues then, and runs under way are made again. A process whose name is taken may wait forever
 * instead of failing.
 */
int campaign_share_no_names(struct campaign *campaign, struct error *err);
/* Discards all assigned runs. Every worker except the reporting one becomes idle. */
void campaign_forget_others(struct campaign *campaign);
/* An exhaustive strategy begins again from its first run. */
void campaign_begin_again(struct campaign *campaign);

#endif
