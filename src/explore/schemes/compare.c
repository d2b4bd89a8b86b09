/*
 * Checks that the program does the same in the processes of all workers.
 *
 * A task's results are joined as if the owner had made its runs, and a task that does not fit is
 * dropped without notice. A program that distinguishes its processes (by a locked file, or by files
 * of earlier ones) would make the search wrong unnoticed. Therefore each worker repeats the owner's
 * first run, with the same strategy state, view of memory and run number, before its first task.
 * The repetition does not count.
 *
 * If the runs differ, the run is repeated once more without other processes. If that repetition
 * equals the first run or cannot be made, the processes disturb each other, and the campaign begins
 * again with one worker. Otherwise the program itself varies, and the user is warned.
 *
 * Not checked: a first run that hangs or spins (it depends on time), a resumed campaign (it has no
 * first run), and remote workers.
 */
#include "explore/schemes/tasks.h"

#include "base/hash.h"
#include "explore/services.h"
#include "platform/platform.h"

/* Interval at which the end of the campaign is checked. */
#define SLEEP_NS UINT64_C(100000000)

void compare_begin(struct campaign *campaign)
{
	campaign->tasks->compares = !campaign->options->remote && !campaign->runs.resumed_id &&
				    !campaign->listener->equip;
	for (uint32_t i = 0; campaign->tasks->compares && i < campaign->worker_count; i++)
		campaign->workers[i].worker.contract->plan.has_operations = true;
}

/* Returns a digest of the threads' ops in their order, and of the outcome. */
static uint64_t compare_digest_of(struct contract *contract)
{
	const struct schedule *schedule = contract_schedule(contract);
	const struct outcome *outcome = &contract->outcome;

	return hash_pair(hash_pair(contract->operations,
				 hash_bytes(schedule->segments,
					 schedule->count * sizeof *schedule->segments)),
		hash_pair(outcome->step,
			hash_pair(outcome->kind, (uint64_t)(uint32_t)outcome->code)));
}

/* Returns whether a repetition of the last run must be equal. A run that hung or spun depends on
 * time. */
static bool compare_is_repeatable(const struct contract *contract, enum contract_report report)
{
	const enum outcome_kind kind = (enum outcome_kind)contract->outcome.kind;

	return contract->outcome.kind != OUTCOME_NONE && kind != OUTCOME_TAINTED &&
	       kind != OUTCOME_HANG && !contract->spin.is_needed &&
	       (report == REPORT_BATCH || report == REPORT_FAILURE || report == REPORT_TAINTED);
}

void compare_note_first(struct campaign *campaign, enum contract_report report)
{
	struct tasks *const tasks = campaign->tasks;
	struct contract *contract = campaign->workers[0].worker.contract;

	if (!tasks->compares || !contract->plan.has_operations)
		return;
	/* A TAINTED run is repeated, and the repetition is compared. Exception: the run has changed
	 * the view of memory. */
	if (report == REPORT_TAINTED && contract->outcome.kind == OUTCOME_TAINTED &&
		!contract->has_memory_sites)
		return;
	contract->plan.has_operations = false;
	tasks->compares = contract->is_live && compare_is_repeatable(contract, report) &&
			  contract->totals.runs - contract->totals.outcome[OUTCOME_TAINTED] <= 1;
	tasks->first_run = contract->run_number;
	tasks->first_digest = compare_digest_of(contract);
}

bool compare_is_due(const struct campaign *campaign, const struct campaign_worker *worker)
{
	return campaign->tasks->compares && !worker->is_compared;
}

bool compare_is_running(const struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_comparing && campaign->workers[i].is_busy)
			return true;
	return false;
}

int compare_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	struct contract_plan *plan = &contract->plan;

	worker_kill(&worker->worker);
	contract_block_clear(
		&worker->worker.block, contract->memory_offset, contract->memory_bytes);
	memory_write_view(campaign, worker);
	worker_clear_strategy(&worker->worker, contract->strategy_bytes);
	worker->has_memory = false;
	plan->is_task = false;
	plan->has_operations = true;
	worker->run_first = campaign->tasks->first_run;
	worker->run_end = worker->run_first + 1;
	worker->before = contract->totals;
	worker->is_comparing = true;
	return loop_start(campaign, worker, err);
}

static bool compare_is_made(const struct campaign *campaign, const struct campaign_worker *worker,
	enum contract_report report)
{
	const struct contract *contract = worker->worker.contract;

	return !campaign->exclusive.is_active && !worker->was_ended_here &&
	       (contract->totals.runs != worker->before.runs || contract->is_elsewhere) &&
	       compare_is_repeatable(contract, report);
}

/* Excludes the run from the totals. */
static void compare_leave(struct campaign *campaign, struct campaign_worker *worker)
{
	struct tasks *const tasks = campaign->tasks;
	const struct contract_totals totals = tasks_totals(worker);

	tasks_add_totals(&tasks->discarded, &totals, 1);
	tasks->compared_runs += totals.runs - totals.outcome[OUTCOME_TAINTED];
	worker->before = worker->worker.contract->totals;
	worker->worker.contract->plan.has_operations = false;
	worker->is_comparing = worker->is_busy = worker->was_ended_here = false;
}

/* Compares while no other process of the target runs. *report: REPORT_NONE if the campaign ends
 * first. */
static int compare_make_exclusive(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err)
{
	struct worker *const alone = &worker->worker;
	int result = exclusive_stop_others(campaign, err);

	*report = REPORT_NONE;
	if (result == 0)
		result = compare_make(campaign, worker, err);
	while (result == 0) {
		result = worker_poll(alone, report, err);
		if (result < 0 || *report != REPORT_NONE || signals_have_ended(campaign) ||
			platform_monotonic_ns() >= campaign->times.deadline_ns)
			break;
		worker_sleep(&alone, 1, SLEEP_NS);
	}
	worker_kill(alone);
	return result;
}

static int compare_continue_exclusive(struct campaign *campaign, struct error *err)
{
	exclusive_forget_others(campaign);
	campaign->exclusive.must_repeat = true;
	return exclusive_begin(campaign,
		"a process of the program that ran beside others behaved differently from the first one; from now on one worker, as with -j 1",
		err);
}

static void compare_warn(struct campaign *campaign)
{
	if (!campaign->tasks->differ)
		campaign_warn(campaign,
			"a second process of the program did not repeat the first run with the same schedule: the program behaves differently in each process (files, locks on them, process ids?)");
	campaign->tasks->differ = true;
}

static int compare_doubt_others(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	enum contract_report report;
	int result;

	compare_leave(campaign, worker);
	result = compare_make_exclusive(campaign, worker, &report, err);
	if (result == 0 && report != REPORT_NONE) {
		worker->is_compared = true;
		if (compare_is_made(campaign, worker, report) &&
			compare_digest_of(worker->worker.contract) != campaign->tasks->first_digest)
			compare_warn(campaign);
		else
			result = compare_continue_exclusive(campaign, err);
	}
	compare_leave(campaign, worker);
	return result;
}

int compare_take(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	struct contract *contract = worker->worker.contract;

	if (compare_is_made(campaign, worker, report)) {
		if (!campaign->tasks->differ &&
			compare_digest_of(contract) != campaign->tasks->first_digest)
			return compare_doubt_others(campaign, worker, err);
		worker->is_compared = true;
	} else if (contract->spin.is_needed) {
		/* the program spins, so its runs depend on time and are not compared */
		worker->is_compared = true;
	}
	compare_leave(campaign, worker);
	return 0;
}

void compare_discard(struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (!worker->is_comparing)
			continue;
		if (worker->is_busy)
			worker_kill(&worker->worker);
		compare_leave(campaign, worker);
		worker->deferred = REPORT_NONE;
	}
}
