/*
 * The control loop of a campaign: polls the workers, handles their reports and gives them batches.
 *
 * Worker 0 makes the first run alone, because that run shows whether the restart works and what the
 * target is. Then the other workers start. The loop ends when the runs or the time are used up, at
 * a finding that ends the campaign, or at an interrupt. loop_end_workers() gives unfinished runs a
 * grace period before the caller kills their processes.
 */
#include "explore/scheme.h"
#include "explore/services.h"
#include "model/feature.h"
#include "platform/platform.h"
#include "process/capture.h"
#include "process/children.h"
#include "process/forward.h"

/* Duration of a batch: short enough to balance the workers, with negligible overhead. */
#define BATCH_NS UINT64_C(200000000)
#define BATCH_MOST (UINT64_C(1) << 20)
#define SLEEP_NS UINT64_C(100000000)
/* Remote workers cannot ring the doorbell: the command polls them. */
#define REMOTE_NAP_NS UINT64_C(1000000)

int loop_start(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->worker.contract->plan;

	memory_write_groups(campaign, worker);
	known_write_plan(campaign, plan);
	plan->restart = campaign->restart;
	plan->run_first = worker->run_first;
	plan->run_limit = worker->run_end - worker->run_first;
	worker->is_busy = true;
	worker->runs_before = worker->worker.contract->totals.runs;
	worker->begun_ns = platform_monotonic_ns();
	return worker_begin(&worker->worker, err);
}

int loop_give(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	int result;

	worker->is_busy = false;
	if (campaign->is_stopping || (campaign->exclusive.is_active && worker != campaign->workers))
		return 0;
	result = campaign->scheme->next_batch(campaign, worker, err);
	return result > 0 ? loop_start(campaign, worker, err) : result;
}

/* Called after a report: gives the next batches to the worker and to worker 0, which may have
 * waited for it. */
static int loop_continue(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	int result = worker->is_busy ? 0 : loop_give(campaign, worker, err);

	if (result == 0 && !campaign->workers[0].is_busy)
		result = loop_give(campaign, &campaign->workers[0], err);
	return result;
}

uint64_t loop_size_batch(uint64_t batch, uint64_t runs, uint64_t took_ns)
{
	/* The last batches of a round are small: the estimate for a full batch counts. */
	if (took_ns / runs * batch < BATCH_NS / 2 && batch < BATCH_MOST)
		return batch * 2;
	return took_ns > BATCH_NS * 2 && batch > 1 ? batch / 2 : batch;
}

static void loop_done_until(struct campaign *campaign, struct campaign_worker *worker, uint64_t run)
{
	if (campaign->scheme->take_runs)
		campaign->scheme->take_runs(campaign, worker, run);
}

static int loop_advance(struct campaign *campaign, struct error *err)
{
	return campaign->scheme->advance ? campaign->scheme->advance(campaign, err) : 0;
}

/* Handles a target that ended without creating a thread: there is only one schedule. */
static int loop_end_without_threads(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	worker->is_busy = false;
	if (signals_was_run_ended(campaign, worker))
		return 0;
	campaign->result->has_no_threads = true;
	campaign->result->outcome = worker->worker.contract->outcome;
	if (campaign->options->output)
		capture_read(&worker->worker.capture, campaign->options->output);
	loop_done_until(campaign, worker, worker->worker.contract->run_number + 1);
	campaign->is_stopping = true;
	if (!worker_is_failure(&worker->worker))
		return 0;
	return campaign->scheme->take_failure(campaign, worker, err);
}

/* Tells all workers if a run has ended without a signal of another process. */
static void loop_note_passed(struct campaign *campaign, const struct contract *contract)
{
	if (!contract->totals.outcome[OUTCOME_PASSED] ||
		contract->features & FEATURE_OUTSIDE_SIGNAL)
		return;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		__atomic_store_n(&campaign->workers[i].worker.contract->plan.ends_alone, true,
			__ATOMIC_RELAXED);
}

static void loop_report_ran(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct campaign_listener *listener = campaign->listener;

	loop_note_passed(campaign, worker->worker.contract);
	if (listener->ran)
		listener->ran(listener->run_context, worker->worker.contract);
	if (listener->is_enough && listener->is_enough(listener->run_context))
		campaign->is_stopping = true;
}

/* Handles a run with an effect that its restart cannot undo. The run was valid, or is TAINTED and
 * made again. */
static int loop_take_taint(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const struct contract *contract = worker->worker.contract;
	const bool is_made = contract->outcome.kind != OUTCOME_TAINTED;
	int result;

	loop_done_until(campaign, worker, contract->run_number + is_made);
	if (is_made)
		loop_report_ran(campaign, worker); /* before the listener is asked for more runs */
	result = loop_advance(campaign, err);
	return result < 0 ? result : restart_take_taint(campaign, worker, err);
}

static int loop_take_batch(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	/* A worker that was stopped before its first run still shows a run of an earlier batch. */
	const bool has_made_runs = exclusive_batch_end(worker) > worker->run_first;

	worker->deaths = 0;
	if (has_made_runs && !campaign->options->is_one_by_one)
		worker->batch = loop_size_batch(worker->batch,
			exclusive_batch_end(worker) - worker->run_first,
			platform_monotonic_ns() - worker->begun_ns);
	loop_done_until(campaign, worker, exclusive_batch_end(worker));
	if (has_made_runs)
		loop_report_ran(campaign, worker);
	return loop_advance(campaign, err);
}

static int loop_take_failure(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	int result;

	worker->deaths = 0;
	if (signals_was_run_ended(campaign, worker))
		return 0;
	result = campaign->scheme->take_failure(campaign, worker, err);
	loop_done_until(campaign, worker, worker->worker.contract->run_number + 1);
	loop_report_ran(campaign, worker);
	return result == 0 ? loop_advance(campaign, err) : result;
}

static int loop_count(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	int result = 0;

	switch (report) {
	case REPORT_TAINTED:
		return loop_take_taint(campaign, worker, err);
	case REPORT_DIED:
		/* The first of the remaining runs did not complete and is made again. */
		loop_done_until(campaign, worker, worker->worker.contract->run_number);
		if (!worker->was_ended_here)
			result = restart_worker_died(campaign, worker, err);
		worker->was_ended_here = false;
		return result;
	case REPORT_FAILURE:
		return loop_take_failure(campaign, worker, err);
	default:
		return loop_take_batch(campaign, worker, err);
	}
}

static int loop_take_refusal(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const struct contract *contract = worker->worker.contract;
	enum contract_restart restart = (enum contract_restart)contract->plan.restart;

	if (contract->outcome.code != REFUSAL_RESTART)
		return error_set(err, ERROR_TARGET, "%s", contract->outcome.text);
	/* Without dispatch the runtime has replaced the rewind by this restart. */
	if (restart == RESTART_REWIND && contract->taint == TAINT_REWIND) {
		notices_start(campaign, worker);
		restart = RESTART_FORK_CREATE;
	}
	worker->is_busy = false;
	return restart_fall_back(campaign, restart, contract->outcome.text, false, err);
}

/* Handles a process that ended before its first thread creation, unlike worker 0's process:
 * processes disturb each other. */
static int loop_exclude(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	struct contract_totals *totals = &contract->totals;

	totals->runs--;
	totals->steps -= contract->outcome.step;
	totals->failures -= worker_is_failure(&worker->worker);
	totals->outcome[contract->outcome.kind]--;
	worker->is_busy = false;
	return exclusive_begin(campaign,
		"a second process of the program ended before its first thread creation while another process ran; from now on one worker, as with -j 1",
		err);
}

static int loop_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	int result = 0;

	if (report == REPORT_REFUSED) {
		result = loop_take_refusal(campaign, worker, err);
		return result < 0 ? result : loop_continue(campaign, worker, err);
	}
	if (restart_must_include_children(campaign, worker)) {
		result = restart_include_children(campaign, worker, err);
		return result < 0 ? result : loop_give(campaign, worker, err);
	}
	result = clocks_take_report(campaign, worker, report, err);
	if (result != 0)
		return result < 0 ? result : 0;
	if (!contract->is_live && !campaign->has_started && report != REPORT_TAINTED &&
		!worker->worker.was_killed_outside)
		return loop_end_without_threads(campaign, worker, err);
	if (contract->is_live) {
		campaign->is_focused |= !campaign->has_started &&
					memory_wants_focus(campaign, worker->worker.contract);
		/* A long first run may have loaded libraries since notices_start() was called. */
		if (campaign->noticed.start && !campaign->has_started)
			notices_libraries(campaign, worker);
		campaign->has_started = true;
		notices_start(campaign, worker);
	}
	if (!contract->is_live && report == REPORT_FAILURE && worker != campaign->workers)
		result = loop_exclude(campaign, worker, err);
	if (result == 0 && campaign->scheme->take_report)
		result = campaign->scheme->take_report(campaign, worker, report, err);
	if (result != 0)
		return result < 0 ? result : loop_continue(campaign, worker, err);
	if (!worker->is_busy) /* loop_exclude() has made the worker idle */
		return 0;
	result = loop_count(campaign, worker, report, err);
	if (campaign->scheme->is_finished && campaign->scheme->is_finished(campaign))
		campaign->is_stopping = true;
	worker->is_busy = false;
	if (worker == campaign->workers)
		state_save(campaign, false);
	return result < 0 ? result : loop_give(campaign, worker, err);
}

static bool loop_is_any_busy(const struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy)
			return true;
	return false;
}

static int loop_poll(struct campaign *campaign, bool *has_report, struct error *err)
{
	*has_report = false;
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];
		enum contract_report report;
		int result;

		if (!worker->is_busy)
			continue;
		result = exclusive_poll(campaign, worker, &report, err);
		if (result < 0)
			return result;
		if (report == REPORT_NONE)
			continue;
		*has_report = true;
		campaign->exclusive.reporting = worker;
		result = loop_take_report(campaign, worker, report, err);
		campaign->exclusive.reporting = NULL;
		/* Reports of other workers belong to runs that a single worker would not make. */
		if (result < 0 || campaign->is_stopping)
			return result;
	}
	return 0;
}

static void loop_sleep(struct campaign *campaign)
{
	const struct scheme *scheme = campaign->scheme;
	const uint64_t wake_ns = scheme->wait_ns ? scheme->wait_ns(campaign) : UINT64_MAX;
	const uint64_t now_ns = platform_monotonic_ns();
	const uint64_t left_ns = now_ns < campaign->times.deadline_ns
					 ? campaign->times.deadline_ns - now_ns
					 : UINT64_MAX;
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

/* Counts the runs of a worker that has stopped as requested. */
static void loop_take_last_runs(
	struct campaign *campaign, struct campaign_worker *worker, enum contract_report report)
{
	const struct contract *contract = worker->worker.contract;
	const bool is_made = report != REPORT_DIED && contract->outcome.kind != OUTCOME_TAINTED &&
			     report != REPORT_REFUSED;

	if (report == REPORT_BATCH)
		loop_done_until(campaign, worker, exclusive_batch_end(worker));
	else if (contract->is_live)
		loop_done_until(campaign, worker, contract->run_number + is_made);
}

/* Waits for the workers' runs, for a grace period. Failures within it count. The caller kills the
 * remaining processes. */
static int loop_end_workers(struct campaign *campaign, struct error *err)
{
	uint64_t until = platform_monotonic_ns() + signals_grace_ns(campaign);

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy)
			worker_stop(&campaign->workers[i].worker);
	while (loop_is_any_busy(campaign) && platform_monotonic_ns() < until) {
		for (uint32_t i = 0; i < campaign->worker_count; i++) {
			struct campaign_worker *worker = &campaign->workers[i];
			enum contract_report report = REPORT_NONE;
			int result = 0;

			if (worker->is_busy)
				result = exclusive_poll(campaign, worker, &report, err);
			if (report == REPORT_FAILURE && worker->worker.contract->is_live &&
				!signals_was_run_ended(campaign, worker))
				result = campaign->scheme->take_failure(campaign, worker, err);
			if (report != REPORT_NONE)
				loop_take_last_runs(campaign, worker, report);
			if (result < 0)
				return result;
			worker->is_busy &= report == REPORT_NONE;
		}
		loop_sleep(campaign);
	}
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		const struct contract *contract = campaign->workers[i].worker.contract;

		if (!campaign->workers[i].is_busy || campaign->workers[i].worker.params.remote)
			continue;
		loop_done_until(campaign, &campaign->workers[i], contract->run_number);
		campaign->result->is_unfinished = true;
		campaign->has_started |= contract->is_live || contract->totals.runs;
		campaign->result->waits_for_outside |= contract->is_waiting_outside != 0;
	}
	return 0;
}

static int loop_end(struct campaign *campaign, bool is_cut, struct error *err)
{
	return campaign->scheme->end ? campaign->scheme->end(campaign, is_cut, err) : 0;
}

static int loop_make_runs(struct campaign *campaign, struct error *err)
{
	int result = loop_give(campaign, &campaign->workers[0], err);
	bool is_cut;

	while (result == 0 && loop_is_any_busy(campaign)) {
		bool has_report;

		signals_pass_on(campaign);
		if (signals_have_ended(campaign) ||
			platform_monotonic_ns() >= campaign->times.deadline_ns) {
			campaign->result->is_interrupted = signals_have_ended(campaign);
			break;
		}
		result = loop_poll(campaign, &has_report, err);
		if (result == 0 && !campaign->is_stopping)
			result = exclusive_check_names(campaign, err);
		if (result == 0 && !campaign->is_stopping)
			result = clocks_end_trial(campaign, err);
		if (result == 0 && !campaign->is_stopping && campaign->has_started &&
			campaign->scheme->wake)
			result = campaign->scheme->wake(campaign, err);
		/* The properties of the target are known before the end of a long first run. */
		if (campaign->workers[0].worker.contract->is_live)
			notices_start(campaign, &campaign->workers[0]);
		if (result == 0)
			result = campaign_report_progress(campaign, err);
		if (result == 0 && !has_report)
			loop_sleep(campaign);
		/* The campaign has its result and does not wait for batches under way. */
		if (campaign->is_stopping)
			return result == 0 ? loop_end(campaign, false, err) : result;
	}
	is_cut = !campaign->is_stopping;
	campaign->is_stopping = true;
	if (result == 0)
		result = loop_end_workers(campaign, err);
	return result == 0 ? loop_end(campaign, is_cut, err) : result;
}

int loop_run(struct campaign *campaign, struct error *err)
{
	int result;

	if (campaign->options->forwards_signals)
		forward_begin();
	result = loop_make_runs(campaign, err);
	if (result == 0)
		state_save(campaign, true);
	forward_end();
	return result;
}
