/*
 * The control loop of a campaign: polls the workers, handles their reports and gives them batches.
 *
 * Worker 0 makes the first run alone, because that run shows whether the restart works and what the
 * target is. Then the other workers start. The loop ends when the runs or the time are used up, at
 * a finding that ends the campaign, or at an interrupt. end_workers() gives unfinished runs a grace
 * period before the caller kills their processes.
 */
#include "explore/campaign_internal.h"

#include <stdio.h>
#include <sys/wait.h>

#include "process/children.h"
#include "process/forward.h"
#include "platform/platform.h"

/*
 * Intended duration of a batch: short enough to balance the workers, long enough to make the
 * overhead negligible.
 */
#define BATCH_NS UINT64_C(200000000)
#define BATCH_MOST (UINT64_C(1) << 20)
#define SLEEP_NS UINT64_C(100000000)
/* Remote workers cannot ring the doorbell, so the command polls them. */
#define REMOTE_NAP_NS UINT64_C(1000000)
/* Number of consecutive SIGKILLs from outside that are treated as accidents. */
#define OUTSIDE_KILLS_MAX 3

/* ---- workers ---- */

/* For strategies without rounds: assigns the next runs to the worker. False: none is left. */
static bool campaign_explore_give_runs(struct campaign *campaign, struct campaign_worker *worker)
{
	uint64_t size = worker->batch;

	if (campaign->options->shards) { /* runs of other shards do not count */
		campaign->run_next = campaign->row.run_first + parts_runs_done(campaign);
		worker->run_first = worker->run_end = campaign->run_next;
	}
	if (worker->run_first < worker->run_end)
		return true;
	campaign_ask_for_runs(campaign);
	if (size > campaign_runs_left(campaign))
		size = campaign_runs_left(campaign);
	worker->run_first = campaign->run_next;
	worker->run_end = campaign->run_next += size;
	return size > 0;
}

/*
 * True if the worker's process starts before runs are assigned to it. A starting process would
 * delay the end of a short round for all other workers.
 */
static bool starts_ahead(const struct campaign *campaign, const struct campaign_worker *worker)
{
	return campaign->has_rounds && worker != campaign->workers &&
	       worker->worker.state == WORKER_EMPTY && worker->run_first == worker->run_end &&
	       campaign->restart != RESTART_EXEC && !campaign->options->is_one_by_one &&
	       campaign->round->before < STRATEGY_ROUND_FIRST;
}

static int start_ahead(
	const struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->worker.contract->plan;

	worker->run_first = worker->run_end = campaign->round->first;
	plan->restart = campaign->restart;
	plan->run_first = worker->run_first;
	plan->run_limit = 0;
	worker->is_busy = true;
	worker->runs_before = worker->worker.contract->totals.runs;
	worker->begun_ns = platform_monotonic_ns();
	return worker_begin(&worker->worker, err);
}

/* Starts the rest of the worker's batch or a new batch. Sets is_busy to whether there was one. */
static int give_batch(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->worker.contract->plan;
	bool may_go_on = true;

	worker->is_busy = false;
	if (campaign->is_alone && worker != campaign->workers)
		return 0;
	if (campaign->parts.strategy && worker != campaign->workers)
		return parts_make(campaign, worker, err);
	if (campaign->parts.strategy && !campaign->is_stopping) {
		const int result = parts_lead_on(campaign, &may_go_on, err);

		if (result < 0)
			return result;
	}
	if (campaign->is_stopping || !may_go_on)
		return 0;
	if (starts_ahead(campaign, worker))
		return start_ahead(campaign, worker, err);
	if (!(campaign->has_rounds ? rounds_give(campaign, worker)
				   : campaign_explore_give_runs(campaign, worker)))
		return 0;
	if (campaign->is_focused && !worker->has_groups &&
		contract_memory(worker->worker.contract)->module_count)
		campaign_tell_groups(campaign, worker);
	plan->restart = campaign->restart;
	plan->run_first = worker->run_first;
	plan->run_limit = worker->run_end - worker->run_first;
	worker->is_busy = true;
	worker->runs_before = worker->worker.contract->totals.runs;
	worker->begun_ns = platform_monotonic_ns();
	return worker_begin(&worker->worker, err);
}

/* Adapts the batch size to BATCH_NS. */
static void size_batch(const struct campaign *campaign, struct campaign_worker *worker)
{
	uint64_t took_ns = platform_monotonic_ns() - worker->begun_ns;

	if (campaign->options->is_one_by_one)
		return;
	if (took_ns < BATCH_NS / 2 && worker->batch < BATCH_MOST)
		worker->batch *= 2;
	else if (took_ns > BATCH_NS * 2 && worker->batch > 1)
		worker->batch /= 2;
}

/* A run has reached its first thread creation. */
static void take_start(struct campaign *campaign, struct campaign_worker *worker)
{
	campaign->is_focused |=
		!campaign->has_started && campaign_wants_focus(campaign, worker->worker.contract);
	campaign->has_started = true;
	campaign_tell_start(campaign, worker);
}

/* Runs of the batch below `run` are made. Ignores a run number outside of the batch. */
static void done_until(struct campaign *campaign, struct campaign_worker *worker, uint64_t run)
{
	if (campaign->has_rounds)
		rounds_take(campaign, worker, run);
	else if (run >= worker->run_first && run <= worker->run_end)
		worker->run_first = run;
}

static int campaign_explore_take_failure(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct campaign_failure caught;
	int result = 0;

	if (campaign->has_rounds) {
		rounds_take_failure(campaign, worker);
		return 0;
	}
	if (campaign_catch_failure(campaign, worker, &caught)) {
		result = campaign_look_into(campaign, &caught, err);
		campaign_failure_release(&caught);
	}
	return result;
}

/* The target ended without a thread creation, so there is nothing to explore. */
static int end_without_threads(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	worker->is_busy = false;
	if (campaign_was_ended(campaign, worker))
		return 0;
	campaign->result->has_no_threads = true;
	campaign->result->outcome = worker->worker.contract->outcome;
	done_until(campaign, worker, worker->worker.contract->run_number + 1);
	campaign->is_stopping = true;
	if (!worker_is_failure(&worker->worker))
		return 0;
	return campaign_explore_take_failure(campaign, worker, err);
}

int campaign_worker_died(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	enum contract_restart restart = (enum contract_restart)contract->plan.restart;
	int status = worker->worker.exit_status;
	char reason[128];

	if (worker->worker.was_killed_outside && campaign->options->forwards_signals) {
		/* raddle acts in place of the program, so a SIGKILL of the user ends both. */
		campaign->is_stopping = campaign->result->is_interrupted = true;
		return error_set(err, ERROR_TARGET,
			"the program was ended by SIGKILL; does it do that itself, is memory "
			"short, or a limit set?");
	}
	if (worker->worker.was_killed_outside) {
		if (++worker->deaths > OUTSIDE_KILLS_MAX)
			return error_set(err, ERROR_TARGET,
				"the program was ended by SIGKILL %u times; does it do that "
				"itself, is "
				"memory short, or a limit set?",
				worker->deaths);
		campaign_notice(campaign, "the program was ended by SIGKILL; going on");
		return 0;
	}
	if (WIFSIGNALED(status))
		(void)snprintf(reason, sizeof reason, "the server of runs was ended by signal %d",
			WTERMSIG(status));
	else
		(void)snprintf(reason, sizeof reason, "the server of runs ended with status %d",
			WEXITSTATUS(status));
	return campaign_fall_back(campaign, restart, reason, false, err);
}

/* This restart was refused: makes the batch again with the next one. */
static int fall_back_and_go_on(struct campaign *campaign, struct campaign_worker *worker,
	const char *reason, struct error *err)
{
	enum contract_restart restart =
		(enum contract_restart)worker->worker.contract->plan.restart;
	int result = campaign_fall_back(campaign, restart, reason, false, err);

	return result < 0 ? result : give_batch(campaign, worker, err);
}

static void tell_ran(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct campaign_listener *listener = campaign->listener;

	if (listener->ran)
		listener->ran(listener->run_context, worker->worker.contract);
	if (listener->is_enough && listener->is_enough(listener->run_context))
		campaign->is_stopping = true;
}

/*
 * The run cannot be undone by this restart. Either the run itself was valid, or its outcome is
 * TAINTED and the run is made again.
 */
static int take_taint(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const struct contract *contract = worker->worker.contract;
	const bool is_made = contract->outcome.kind != OUTCOME_TAINTED;
	int result = 0;

	done_until(campaign, worker, contract->run_number + is_made);
	if (is_made)
		tell_ran(campaign, worker); /* before the listener is asked for more runs */
	if (campaign->has_rounds)
		result = rounds_advance(campaign, false, err);
	if (result < 0)
		return result;
	return campaign_fall_back(campaign, (enum contract_restart)contract->plan.restart,
		contract->taint_text, contract->taint == TAINT_SHARED, err);
}

/* Handles the report of a worker, then gives it the next batch. */
static int handle_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	bool has_made_runs;
	int result = 0;

	if (report == REPORT_REFUSED && contract->outcome.code == REFUSAL_RESTART)
		return fall_back_and_go_on(campaign, worker, contract->outcome.text, err);
	if (report == REPORT_REFUSED)
		return error_set(err, ERROR_TARGET, "%s", contract->outcome.text);
	if (campaign_must_include_children(campaign, worker)) {
		result = campaign_include_children(campaign, worker, err);
		return result < 0 ? result : give_batch(campaign, worker, err);
	}
	if (!contract->is_live && !campaign->has_started && report != REPORT_TAINTED &&
		!worker->worker.was_killed_outside)
		return end_without_threads(campaign, worker, err);
	if (contract->is_live)
		take_start(campaign, worker);
	if (worker == campaign->workers)
		compare_note_first(campaign, report);
	if (!contract->is_live && report == REPORT_FAILURE && worker != campaign->workers)
		result = campaign_go_on_alone(campaign, worker, err);
	if (result < 0)
		return result;
	if (campaign->parts.strategy && worker != campaign->workers) {
		result = parts_take_report(campaign, worker, report, err);
		/* The leader may have waited for this task. */
		return result < 0 || campaign->workers[0].is_busy
			       ? result
			       : give_batch(campaign, &campaign->workers[0], err);
	}
	if (!worker->is_busy) /* campaign_go_on_alone() has excluded this worker */
		return 0;
	switch (report) {
	case REPORT_TAINTED:
		result = take_taint(campaign, worker, err);
		break;
	case REPORT_DIED:
		/* The first run that is left was not completed and is made again. */
		done_until(campaign, worker, contract->run_number);
		if (!worker->was_sent_away)
			result = campaign_worker_died(campaign, worker, err);
		worker->was_sent_away = false;
		break;
	case REPORT_FAILURE:
		worker->deaths = 0;
		if (campaign_was_ended(campaign, worker))
			break;
		result = campaign_explore_take_failure(campaign, worker, err);
		done_until(campaign, worker, contract->run_number + 1);
		tell_ran(campaign, worker);
		if (result == 0 && campaign->has_rounds)
			result = rounds_advance(campaign, false, err);
		break;
	default:
		worker->deaths = 0;
		size_batch(campaign, worker);
		/*
		 * A worker that was stopped before its first run still shows a run of an earlier
		 * batch.
		 */
		has_made_runs = campaign_end_of_batch(worker) > worker->run_first;
		done_until(campaign, worker, campaign_end_of_batch(worker));
		if (has_made_runs)
			tell_ran(campaign, worker);
		if (campaign->has_rounds)
			result = rounds_advance(campaign, false, err);
		break;
	}
	if (campaign_is_exhausted(campaign, contract) && !compare_is_under_way(campaign))
		campaign->is_stopping = true;
	if (worker == campaign->workers) {
		worker->is_busy = false;
		state_save(campaign, false);
	}
	/* Only worker 0 runs until the restart is known to work. */
	return result < 0 ? result : give_batch(campaign, worker, err);
}

static bool campaign_explore_is_any_busy(const struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy)
			return true;
	return false;
}

static int poll_workers(struct campaign *campaign, bool *has_report, struct error *err)
{
	*has_report = false;
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];
		enum contract_report report;
		int result;

		if (!worker->is_busy)
			continue;
		result = campaign_poll(campaign, worker, &report, err);
		if (result < 0)
			return result;
		if (report == REPORT_NONE)
			continue;
		*has_report = true;
		campaign->reporting = worker;
		result = handle_report(campaign, worker, report, err);
		campaign->reporting = NULL;
		/*
		 * The finding ends the campaign: reports of other workers belong to runs that a
		 * single worker would not make.
		 */
		if (result < 0 || campaign->is_stopping)
			return result;
	}
	return 0;
}

/*
 * Worker 0 makes the first run alone. The other workers start when that run has shown that the
 * restart works.
 */
static int wake_workers(struct campaign *campaign, struct error *err)
{
	if (!campaign->has_started || campaign->parts.strategy)
		return 0;
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		int result = 0;

		if (!campaign->workers[i].is_busy)
			result = give_batch(campaign, &campaign->workers[i], err);
		if (result < 0)
			return result;
	}
	return 0;
}

static void sleep_for_workers(struct campaign *campaign)
{
	const uint64_t wake_ns = parts_wake(campaign), now_ns = platform_monotonic_ns();
	const uint64_t left_ns =
		now_ns < campaign->deadline_ns ? campaign->deadline_ns - now_ns : UINT64_MAX;
	uint64_t sleep_ns = campaign->options->remote ? REMOTE_NAP_NS : SLEEP_NS;
	struct worker *busy[CHILDREN_WORKERS_MAX];
	unsigned count = 0;

	if (left_ns < sleep_ns)
		sleep_ns = left_ns;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy)
			busy[count++] = &campaign->workers[i].worker;
	if (count)
		worker_sleep(busy, count, wake_ns < sleep_ns ? wake_ns : sleep_ns);
}

/* ---- end of the campaign ---- */

/* The worker has stopped as requested: counts its last runs. */
static void take_last_runs(
	struct campaign *campaign, struct campaign_worker *worker, enum contract_report report)
{
	const struct contract *contract = worker->worker.contract;
	const bool is_made = report != REPORT_DIED && contract->outcome.kind != OUTCOME_TAINTED &&
			     report != REPORT_REFUSED;

	if (report == REPORT_BATCH)
		done_until(campaign, worker, campaign_end_of_batch(worker));
	else if (contract->is_live)
		done_until(campaign, worker, contract->run_number + is_made);
}

/*
 * The time is up or the user interrupts: unfinished runs get a grace period, and a failure within
 * it counts. The caller kills the remaining processes.
 */
static int end_workers(struct campaign *campaign, struct error *err)
{
	uint64_t until = platform_monotonic_ns() + campaign_end_grace_ns(campaign);

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy)
			worker_stop(&campaign->workers[i].worker);
	while (campaign_explore_is_any_busy(campaign) && platform_monotonic_ns() < until) {
		for (uint32_t i = 0; i < campaign->worker_count; i++) {
			struct campaign_worker *worker = &campaign->workers[i];
			enum contract_report report = REPORT_NONE;
			int result = 0;

			if (worker->is_busy)
				result = campaign_poll(campaign, worker, &report, err);
			if (report == REPORT_FAILURE && worker->worker.contract->is_live &&
				!campaign_was_ended(campaign, worker))
				result = campaign_explore_take_failure(campaign, worker, err);
			if (report != REPORT_NONE)
				take_last_runs(campaign, worker, report);
			if (result < 0)
				return result;
			worker->is_busy &= report == REPORT_NONE;
		}
		sleep_for_workers(campaign);
	}
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		const struct contract *contract = campaign->workers[i].worker.contract;

		if (!campaign->workers[i].is_busy || campaign->workers[i].worker.params.remote)
			continue;
		done_until(campaign, &campaign->workers[i], contract->run_number);
		campaign->result->is_unfinished = true;
		campaign->has_started |= contract->is_live != 0;
		campaign->result->waits_for_outside |= contract->is_waiting_outside != 0;
	}
	return 0;
}

static int campaign_explore_explore(struct campaign *campaign, struct error *err)
{
	int result = give_batch(campaign, &campaign->workers[0], err);
	bool is_cut;

	while (result == 0 && campaign_explore_is_any_busy(campaign)) {
		bool has_report;

		campaign_pass_signals_on(campaign);
		if (campaign_is_interrupted(campaign) ||
			platform_monotonic_ns() >= campaign->deadline_ns) {
			campaign->result->is_interrupted = campaign_is_interrupted(campaign);
			break;
		}
		result = poll_workers(campaign, &has_report, err);
		if (result == 0 && !campaign->is_stopping)
			result = campaign_share_no_names(campaign, err);
		if (result == 0 && !campaign->is_stopping)
			result = wake_workers(campaign, err);
		/*
		 * Reports the properties of the target without waiting for the end of a long first
		 * run.
		 */
		if (campaign->workers[0].worker.contract->is_live)
			campaign_tell_start(campaign, &campaign->workers[0]);
		if (result == 0)
			result = campaign_tell_progress(campaign, err);
		if (result == 0 && !has_report)
			sleep_for_workers(campaign);
		/* The campaign has its result and does not wait for batches under way. */
		if (campaign->is_stopping)
			return result == 0 ? parts_end(campaign, false, err) : result;
	}
	is_cut = !campaign->is_stopping;
	campaign->is_stopping = true;
	if (result == 0)
		result = end_workers(campaign, err);
	return result == 0 ? parts_end(campaign, is_cut, err) : result;
}

/* Counts the runs made so far, up to a failure that ends the campaign. */
static int settle_all(struct campaign *campaign, struct error *err)
{
	if (!campaign->has_rounds || campaign->is_over)
		return 0;
	campaign->is_stopping = false;
	return rounds_advance(campaign, true, err);
}

int campaign_explore(struct campaign *campaign, struct error *err)
{
	int result;

	if (campaign->options->forwards_signals)
		forward_begin();
	result = campaign_explore_explore(campaign, err);
	if (result == 0)
		result = settle_all(campaign, err);
	if (result == 0)
		state_save(campaign, true);
	forward_end();
	return result;
}
