/*
 * Is the program the same in the processes of all workers? What a part shows is taken as if the leader had made its
 * runs, and a part that does not fit is only dropped. So of a program that finds out which process it is (by a file's
 * lock, or by what others have left) each worker might see another one, and none of them that there are two. Therefore a
 * worker makes the leader's first run again before its first part: the strategy is at its beginning in both, nothing is
 * known of memory, and the run has the same number, so it is the same one. It does not count.
 *
 * Where it is another one, that may be the work of other workers' processes. So it is made once more while there is no
 * other: if it is the first one then, or cannot be made, processes are in each other's way, and the campaign begins again
 * with one worker.
 *
 * Not where that run hangs or spins, which depends on time, of a campaign that is resumed, as it has no first run, and
 * of workers that are elsewhere.
 */
#include "explore/campaign_internal.h"

#include "base/hash.h"
#include "platform/platform.h"

/* How long nobody looks whether the campaign is to end. */
#define SLEEP_NS UINT64_C(100000000)

void compare_begin(struct campaign *campaign)
{
	campaign->parts.compares = campaign->parts.strategy && !campaign->options->remote &&
				   !campaign->resumed_id && !campaign->listener->equip;
	for (uint32_t i = 0; campaign->parts.compares && i < campaign->worker_count; i++)
		campaign->workers[i].worker.contract->plan.has_operations = true;
}

/* What the threads did, when, and what came of it. */
static uint64_t campaign_compare_digest_of(struct contract *contract)
{
	const struct schedule *schedule = contract_schedule(contract);
	const struct outcome *outcome = &contract->outcome;

	return hash_pair(hash_pair(contract->operations,
				 hash_bytes(schedule->segments,
					 schedule->count * sizeof *schedule->segments)),
		hash_pair(outcome->step,
			hash_pair(outcome->kind, (uint64_t)(uint32_t)outcome->code)));
}

/* Is the last run one that is the same whenever it is made? */
static bool is_telling(const struct contract *contract, enum contract_report report)
{
	const enum outcome_kind kind = (enum outcome_kind)contract->outcome.kind;

	return contract->outcome.kind != OUTCOME_NONE && kind != OUTCOME_TAINTED &&
	       kind != OUTCOME_HANG && !contract->spin.is_needed &&
	       (report == REPORT_BATCH || report == REPORT_FAILURE || report == REPORT_TAINTED);
}

void compare_note_first(struct campaign *campaign, enum contract_report report)
{
	struct campaign_parts *parts = &campaign->parts;
	struct contract *contract = campaign->workers[0].worker.contract;

	if (!parts->compares || !contract->plan.has_operations)
		return;
	/* One that was not carried to its end is made again, but may have taught something of memory. */
	if (report == REPORT_TAINTED && contract->outcome.kind == OUTCOME_TAINTED &&
		!contract->has_memory_sites)
		return;
	contract->plan.has_operations = false;
	parts->compares = contract->is_live && is_telling(contract, report) &&
			  contract->totals.runs - contract->totals.outcome[OUTCOME_TAINTED] <= 1;
	parts->first_run = contract->run_number;
	parts->first_digest = campaign_compare_digest_of(contract);
}

bool compare_is_due(const struct campaign *campaign, const struct campaign_worker *worker)
{
	return campaign->parts.compares && !worker->is_compared;
}

bool compare_is_under_way(const struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_comparing && campaign->workers[i].is_busy)
			return true;
	return false;
}

/* Kills the worker's process, and sets out on the first run. */
int compare_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	struct contract_plan *plan = &contract->plan;

	worker_kill(&worker->worker);
	contract_block_clear(
		&worker->worker.block, contract->memory_offset, contract->memory_bytes);
	campaign_tell_memory(campaign, worker);
	worker_clear_strategy(&worker->worker, contract->strategy_bytes);
	worker->has_memory = false;
	plan->is_part = false;
	plan->has_operations = true;
	plan->restart = campaign->restart;
	plan->run_first = campaign->parts.first_run;
	plan->run_limit = 1;
	worker->before = contract->totals;
	worker->is_comparing = worker->is_busy = true;
	worker->begun_ns = platform_monotonic_ns();
	return worker_begin(&worker->worker, err);
}

static bool is_made(const struct campaign *campaign, const struct campaign_worker *worker,
	enum contract_report report)
{
	const struct contract *contract = worker->worker.contract;

	return !campaign->is_alone && !worker->was_sent_away &&
	       (contract->totals.runs != worker->before.runs || contract->is_elsewhere) &&
	       is_telling(contract, report);
}

/* It is over, and counts for nothing. */
static void campaign_compare_leave(struct campaign *campaign, struct campaign_worker *worker)
{
	struct campaign_parts *parts = &campaign->parts;
	const struct contract_totals totals = parts_totals(worker);

	parts_add_totals(&parts->dropped, &totals, 1);
	parts->compared_runs += totals.runs - totals.outcome[OUTCOME_TAINTED];
	worker->before = worker->worker.contract->totals;
	worker->worker.contract->plan.has_operations = false;
	worker->is_comparing = worker->is_busy = worker->was_sent_away = false;
}

/* Makes it while no other process is there. *report is REPORT_NONE where the campaign ends before. */
static int campaign_compare_make_alone(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err)
{
	struct worker *const alone = &worker->worker;
	int result = campaign_clear_way(campaign, err);

	*report = REPORT_NONE;
	if (result == 0)
		result = compare_make(campaign, worker, err);
	while (result == 0) {
		result = worker_poll(alone, report, err);
		if (result < 0 || *report != REPORT_NONE || campaign_is_interrupted(campaign) ||
			platform_monotonic_ns() >= campaign->deadline_ns)
			break;
		worker_sleep(&alone, 1, SLEEP_NS);
	}
	worker_kill(alone);
	return result;
}

static void campaign_compare_go_on_alone(struct campaign *campaign)
{
	campaign_notice(campaign,
		"a second process of the program, beside others, did not do what the first did alone; "
		"from now on one worker, as by -j 1");
	campaign_forget_others(campaign);
	campaign->is_alone = campaign->is_disturbed = true;
}

static void differ(struct campaign *campaign)
{
	if (!campaign->parts.differ)
		campaign_warn(campaign,
			"the first run is another one in a second process of the program, "
			"whose schedule it was given: the program does not do the same in every "
			"process (files, locks on them, process numbers?)");
	campaign->parts.differ = true;
}

/* It was another one. */
static int doubt_others(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	enum contract_report report;
	int result;

	campaign_compare_leave(campaign, worker);
	result = campaign_compare_make_alone(campaign, worker, &report, err);
	if (result == 0 && report != REPORT_NONE) {
		worker->is_compared = true;
		if (is_made(campaign, worker, report) &&
			campaign_compare_digest_of(worker->worker.contract) !=
				campaign->parts.first_digest)
			differ(campaign);
		else
			campaign_compare_go_on_alone(campaign);
	}
	campaign_compare_leave(campaign, worker);
	return result;
}

int compare_take(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	struct contract *contract = worker->worker.contract;

	if (is_made(campaign, worker, report)) {
		if (!campaign->parts.differ &&
			campaign_compare_digest_of(contract) != campaign->parts.first_digest)
			return doubt_others(campaign, worker, err);
		worker->is_compared = true;
	} else if (contract->spin.is_needed) {
		worker->is_compared = true; /* it never is the same */
	}
	campaign_compare_leave(campaign, worker);
	return 0;
}

void compare_forget(struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (!worker->is_comparing)
			continue;
		if (worker->is_busy)
			worker_kill(&worker->worker);
		campaign_compare_leave(campaign, worker);
		worker->put_off = REPORT_NONE;
	}
}
