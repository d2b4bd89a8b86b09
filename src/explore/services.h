/* Functions that the files of a campaign provide to each other, beside the schemes (scheme.h). */
#pragma once

#include "explore/campaign_state.h"

struct investigation;

/* Makes the runs of the campaign (loop.c). Returns when the budget is used up, when a finding ends the campaign, or
 * when the user interrupts it. */
int loop_run(struct campaign *campaign, struct error *err);
/* Starts the batch run_first to run_end. */
int loop_start(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Returns the number of runs of a worker's next batch, after `runs` (not 0) runs of a batch of at most
 * `batch` have taken `took_ns`. */
uint64_t loop_size_batch(uint64_t batch, uint64_t runs, uint64_t took_ns);
/* Asks the scheme (scheme.h) for the worker's next batch of runs, and starts it. */
int loop_give(struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/* failure.c: from a failing run to a stored finding. */

/* A failing run, copied from its worker for the investigation. */
struct campaign_failure {
	uint64_t key;
	struct failure failure;
	struct memory_view memory;
	enum contract_restart restart; /* restart with which the run was made */
	char *strategy;		       /* name and options, as the user writes them */
};

/* Copies the failure of the worker's last run; failure_discard() releases the copy. Returns false
 * if the failure is known or ignored; nothing needs a release then. */
bool failure_copy_from(struct campaign *campaign, const struct campaign_worker *from,
	struct campaign_failure *out);
void failure_discard(struct campaign_failure *failure);
/* Stores a finding unless the key is known. Sets is_stopping where it ends the campaign. */
int failure_investigate(
	struct campaign *campaign, const struct campaign_failure *failure, struct error *err);
bool failure_is_suppressed(const struct campaign *campaign, uint64_t key);
/* Notes the finding of a failure. `id`: in the campaign's store; or empty. */
void failure_note_finding(
	struct campaign *campaign, uint64_t key, const struct finding *finding, const char id[32]);
/* Stores a finding and reports it to the listener. */
int failure_keep_finding(struct campaign *campaign, const struct investigation *investigation,
	uint64_t key, struct finding *finding, struct error *err);
/* Reports at the end where the findings of the fallback store are. */
void fallback_notify(struct campaign *campaign);

/* weak_failure.c: makes runs under the memory model that permits a weak access. Adds to the cause what
 * they show. A failing run becomes a finding of its own, which finding->shown_by names. */
int weak_failure_confirm(struct campaign *campaign, const struct campaign_failure *caught,
	const struct investigation *investigation, struct finding *finding, struct error *err);

/* known.c: which failures a campaign has seen, and how often. */

/* A failure that runs have shown (known.c). */
struct known_failure {
	uint64_t key; /* failure_run_key() */
	bool is_investigated;
	bool has_finding;
	uint64_t signature; /* of the finding */
	/* its id in the campaign's store; empty: none, or in the fallback store */
	char finding[32];
	uint64_t times;	       /* failing runs that count */
	uint64_t times_stored; /* of these, in the store */
};

/* Returns the failure with this key, which is added if it is new. Valid until the next call. */
struct known_failure *known_add(struct campaign *campaign, uint64_t key);
bool known_is_investigated(const struct campaign *campaign, uint64_t key);
/* Returns a failure whose finding has this signature; or NULL. */
const struct known_failure *known_find_signature(
	const struct campaign *campaign, uint64_t signature);
/* Counts the worker's last run, which it reported because of this failure. */
void known_count_run(struct campaign *campaign, const struct campaign_worker *worker, uint64_t key);
/* Lets the runs of the worker's next batch count failures that have a finding. */
void known_write_plan(const struct campaign *campaign, struct contract_plan *plan);
void known_take_counts(struct campaign *campaign, const struct contract_totals *totals);
/* Adds new occurrences to the findings' counts in the store. */
int known_store_counts(struct campaign *campaign, struct error *err);

/* exclusive.c: processes that disturb each other. */

/* Returns the first run that a batch did not make, after it has ended or was stopped. */
uint64_t exclusive_batch_end(const struct campaign_worker *worker);
/* Same as worker_poll(), but returns deferred reports first. The reports have the order of runs if
 * is_one_by_one is set. */
int exclusive_poll(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err);
/* Ends all local processes of the target; defers reports that arrive meanwhile. */
int exclusive_stop_others(struct campaign *campaign, struct error *err);
/* Makes worker 0 the only worker from now on. `notice` gives the user the reason. */
int exclusive_begin(struct campaign *campaign, const char *notice, struct error *err);
/*
 * Returns whether a failure did not repeat in exclusive confirmation runs although other processes
 * ran beside its run. The failure does not count then. Sets must_repeat: one worker makes the run
 * and all later ones.
 */
bool exclusive_doubt_others(struct campaign *campaign, const struct confirmation *confirmation);
/* Detects names that the target binds, for which other processes of it would wait forever: ports, for which the workers
 * get networks of their own, and paths. */
int exclusive_check_names(struct campaign *campaign, struct error *err);
/* Discards all assigned runs. Every worker except the reporting one becomes idle. */
void exclusive_forget_others(struct campaign *campaign);

/* Called when a worker's server process has ended. Returns 0 if it may start again, possibly with
 * another restart. */
int restart_worker_died(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/*
 * `restart` cannot be used for this target because of `reason`: switches to the next more faithful
 * one, with one notice. `is_shared`: a fork at the first thread creation is unsuitable too. Fails
 * where the restart was forced or is the last one.
 */
int restart_fall_back(struct campaign *campaign, enum contract_restart restart, const char *reason,
	bool is_shared, struct error *err);
/* Called after a run that its restart could not undo. */
int restart_take_taint(
	struct campaign *campaign, const struct campaign_worker *worker, struct error *err);
/* Gives the worker a new process, with the program's current settings. */
int restart_reopen(struct campaign *campaign, struct campaign_worker *worker, struct error *err);
/* Returns whether the first run shows forked children with threads, and children may be explored. */
bool restart_must_include_children(
	const struct campaign *campaign, const struct campaign_worker *worker);
int restart_include_children(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err);

/* clocks.c: whether a failure counts that virtual time may have caused.
 *
 * Called with the reports of all runs. Returns 1 if the worker makes the first run again with other
 * clocks; 0: the report counts. */
int clocks_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err);
/* Ends a run with real clocks that takes too long: the failure with virtual time counts. */
int clocks_end_trial(struct campaign *campaign, struct error *err);
/* Repeats the schedule of a failure with the real clocks. *is_doubted: the failure does not count, because
 * only virtual time causes it; all further runs have the real clocks, and the failing run is made again. */
int clocks_doubt_failure(struct campaign *campaign, const struct campaign_failure *caught,
	const struct probe_params *like, bool *is_doubted, struct error *err);

/* Passes signals on to the program if the campaign has one run. */
void signals_pass_on(struct campaign *campaign);
bool signals_have_ended(const struct campaign *campaign);
/* Returns the time for unfinished runs to complete at the end, before their processes are
 * killed. */
uint64_t signals_grace_ns(const struct campaign *campaign);
/* Returns whether a signal that raddle passed on killed the worker's last run. Such a run is an
 * interruption, not a failure. */
bool signals_was_run_ended(struct campaign *campaign, struct campaign_worker *worker);

/* Reports the properties of the target once, after the first thread creation. */
void notices_start(struct campaign *campaign, const struct campaign_worker *worker);
/* Finds the libraries in the worker's process whose accesses raddle does not see. */
void notices_libraries(struct campaign *campaign, const struct campaign_worker *worker);
/* Warns once of each kind of operation that is invisible to raddle. `is_last`: no later call follows, so that
 * a warning whose location has no name yet is given without it. */
void notices_warn(struct campaign *campaign, bool is_last);

/* Returns whether strategy and program profit from switching sites off. */
bool memory_wants_focus(const struct campaign *campaign, struct contract *contract);
/* Sends a focused worker's process the sites that may access each variable, once. */
void memory_write_groups(struct campaign *campaign, struct campaign_worker *worker);
/* Writes the view of memory that a process has before any run. */
void memory_write_view(const struct campaign *campaign, struct campaign_worker *worker);
/* Copies worker 0's view of shared memory. Kills a process that began with another view. */
void memory_copy_view(struct campaign *campaign, struct campaign_worker *worker);

/* Records the progress for charts, if the interval has passed or `is_due` is true. */
void progress_note(struct campaign *campaign, bool is_due);
/* Returns the progress as a JSON array. The caller frees it. */
char *progress_text(const struct progress *progress);

/* orders.c: estimates the number of all orders of a program after a campaign whose search has not
 * ended, by descents of the strategy `estimate` in a process of their own. */

/* The part of the time budget that is reserved for descents, which do not count as runs. */
uint64_t orders_reserved_ns(const struct campaign *campaign);
/* Sets result->orders. An error leaves the campaign without an estimate. */
void orders_estimate(struct campaign *campaign);

/* state.c: exhaustive searches that a later campaign continues. */

/* Saves the strategy's state if due or `is_last`, or removes it once the search is complete. */
void state_save(struct campaign *campaign, bool is_last);
/* Returns whether campaign `id` has left a saved state. */
bool state_is_kept(const struct campaign *campaign, int64_t id);
/* *run: the next run in the saved state of the campaign that this one continues. */
int state_find(const struct campaign *campaign, uint64_t *run, struct error *err);
/* Loads the saved state into worker 0, before its first run. */
int state_load(struct campaign *campaign, struct error *err);

/* Returns the features (model/feature.h) of the runs since the last new scheduling point: an exhaustive search
 * began again there. */
uint32_t verdict_features(const struct campaign *campaign);
/* Takes the verdict from the state of worker 0's strategy. */
void verdict_take(struct campaign *campaign);
/* Returns why a complete search does not cover all schedules; NULL: it covers them. */
const char *verdict_missing(const struct campaign *campaign);
/* Stores the campaign's shard and, when `is_over`, its verdict. */
int verdict_keep(struct campaign *campaign, bool is_over, struct error *err);

/* Returns true if a search beside random runs has executed all orders (rounds.c). */
bool rounds_verdict(const struct campaign *campaign, struct strategy_verdict *out);
