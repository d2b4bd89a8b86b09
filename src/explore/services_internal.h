/* What the files of this folder do for each other, beside the schemes (scheme.h). */
#ifndef RADDLE_EXPLORE_SERVICES_INTERNAL_H
#define RADDLE_EXPLORE_SERVICES_INTERNAL_H

#include "explore/campaign_internal.h"

/* ---- failure.c: from a failing run to a stored finding ---- */

/*
 * The worker's last run failed: copies the failure. False: the failure is known or ignored, and
 * `out` needs no release. Otherwise the caller calls failure_discard().
 */
bool failure_copy_from(struct campaign *campaign, const struct campaign_worker *from,
	struct campaign_failure *out);
void failure_discard(struct campaign_failure *failure);
/*
 * Investigates the failure unless its key is known, and stores the finding. Sets
 * campaign->is_stopping where the finding ends the campaign.
 */
int failure_investigate(
	struct campaign *campaign, const struct campaign_failure *failure, struct error *err);
bool failure_is_suppressed(const struct campaign *campaign, uint64_t key);
/* At the end: reports where the findings of the fallback store are. */
void fallback_notify(struct campaign *campaign);

/* ---- exclusive.c: processes that disturb each other ---- */

/* Number of the first run not made, for a batch that has ended or was stopped. */
uint64_t exclusive_batch_end(const struct campaign_worker *worker);
/*
 * As worker_poll(), but a deferred report comes first. With is_one_by_one, reports come in the
 * order of runs.
 */
int exclusive_poll(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err);
/* Ends all local processes of the target. Reports that arrive meanwhile are deferred. */
int exclusive_stop_others(struct campaign *campaign, struct error *err);
/* From now on worker 0 works alone; the notice says why. */
int exclusive_begin(struct campaign *campaign, const char *notice, struct error *err);
/*
 * True if a failure did not repeat in exclusive confirmation runs although other processes ran
 * beside its run. The failure does not count then. Sets must_repeat, and one worker makes the run
 * and all later ones.
 */
bool exclusive_doubt_others(struct campaign *campaign, const struct confirmation *confirmation);
/*
 * Detects that the target binds a name that its other processes would bind as well. A process
 * whose name is taken may wait forever instead of failing.
 */
int exclusive_check_names(struct campaign *campaign, struct error *err);
/* Discards all assigned runs. Every worker except the reporting one becomes idle. */
void exclusive_forget_others(struct campaign *campaign);

/* ---- restart.c ---- */

/*
 * The server process of a worker's runs has ended. Returns an error, or 0 if the worker may start
 * again, possibly with another restart.
 */
int restart_worker_died(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * `restart` cannot be used for this target because of `reason`. Switches to the next more faithful
 * restart and prints one notice. `is_shared`: a fork at the first thread creation is unsuitable
 * too. Fails where the restart was forced or is the last one.
 */
int restart_fall_back(struct campaign *campaign, enum contract_restart restart, const char *reason,
	bool is_shared, struct error *err);
/* As restart_fall_back(), for a run that its restart could not undo. */
int restart_take_taint(
	struct campaign *campaign, const struct campaign_worker *worker, struct error *err);
/* The first run shows that forked children create threads, and children may be explored. */
bool restart_must_include_children(
	const struct campaign *campaign, const struct campaign_worker *worker);
int restart_include_children(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/* ---- signals.c ---- */

/* Passes signals that raddle received on to the program, if the campaign has one run. */
void signals_pass_on(struct campaign *campaign);
bool signals_have_ended(const struct campaign *campaign);
/* Time in which unfinished runs may complete at the end, before their processes are killed. */
uint64_t signals_grace_ns(const struct campaign *campaign);
/*
 * True if a signal that raddle received and passed on killed the worker's last run. Such a run is
 * no failure and is not counted. The campaign then ends as if the user had interrupted raddle.
 */
bool signals_was_run_ended(struct campaign *campaign, struct campaign_worker *worker);

/* ---- notices.c ---- */

/* A run has reached its first thread creation: reports the properties of the target once. */
void notices_start(struct campaign *campaign, const struct campaign_worker *worker);
/* Warns once of each kind of operation that raddle does not see in the runs. */
void notices_warn(struct campaign *campaign);

/* ---- memory.c ---- */

/* Do the strategy and the program profit from switching sites off? */
bool memory_wants_focus(const struct campaign *campaign, struct contract *contract);
/* Informs a focused worker's process which sites may access which variables, once. */
void memory_write_groups(struct campaign *campaign, struct campaign_worker *worker);
/* Writes the view of memory that holds before any run. */
void memory_write_view(const struct campaign *campaign, struct campaign_worker *worker);
/*
 * Copies worker 0's view of shared memory to the worker. Kills the worker's process if that began
 * with another view.
 */
void memory_copy_view(struct campaign *campaign, struct campaign_worker *worker);

/* ---- progress.c: progress over time, for charts ---- */

/* Records the current progress if that is due, or in any case with `is_due`. */
void progress_note(struct campaign *campaign, bool is_due);
/* The recorded progress as the store holds it, a JSON array. The caller frees it. */
char *progress_text(const struct progress *progress);

/* ---- state.c: exhaustive searches that a later campaign continues ---- */

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

/* ---- shards.c ---- */

/* Fills the verdict of the result from the state of worker 0's strategy. */
void verdict_take(struct campaign *campaign);
/* Stores which shard this campaign is, and, when `is_over`, its verdict. */
int verdict_keep(struct campaign *campaign, bool is_over, struct error *err);

#endif
