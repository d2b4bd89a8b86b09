/*
 * Exclusive confirmation runs.
 *
 * Processes of one program may disturb each other through a file in the working folder, a port or a
 * name. Therefore all other processes of the target are stopped before a failure is replayed. A
 * failure that does not repeat then is no finding. Its run is made again, and one worker makes all
 * further runs.
 */
#include <string.h>

#include "explore/campaign_internal.h"
#include "platform/platform.h"
#include "strategies/strategy.h"
#include "symbols/symbols.h"

/* Grace period for runs under way. A run that takes longer is killed and made again. */
#define QUIET_GRACE_NS UINT64_C(500000000)

/*
 * With is_one_by_one, reports are handled in the order of runs: true while an earlier run is under
 * way. The deferred worker receives no new batch meanwhile, so its report stays valid.
 */
static bool has_to_wait(const struct campaign *campaign, const struct campaign_worker *worker)
{
	if (!campaign->options->is_one_by_one)
		return false;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy &&
			campaign->workers[i].run_first < worker->run_first)
			return true;
	return false;
}

int campaign_poll(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err)
{
	*report = worker->put_off;
	if (*report == REPORT_NONE) {
		const int result = worker_poll(&worker->worker, report, err);

		if (result < 0)
			return result;
	}
	worker->put_off = has_to_wait(campaign, worker) ? *report : REPORT_NONE;
	if (worker->put_off != REPORT_NONE)
		*report = REPORT_NONE;
	return 0;
}

uint64_t campaign_end_of_batch(const struct campaign_worker *worker)
{
	const struct contract *contract = worker->worker.contract;

	return contract->stop ? worker->run_first + contract->totals.runs - worker->runs_before
			      : worker->run_end;
}

static bool is_under_way(const struct campaign *campaign, const struct campaign_worker *worker)
{
	return worker != campaign->reporting && worker->is_busy && worker->put_off == REPORT_NONE &&
	       !worker->worker.params.remote;
}

/* Waits until the worker's batch ends or the time is up, and stores the report in put_off. */
static int campaign_quiet_wait_for(struct campaign *campaign, struct campaign_worker *worker,
	uint64_t until_ns, struct error *err)
{
	struct worker *const alone = &worker->worker;

	while (is_under_way(campaign, worker) && !campaign_is_interrupted(campaign) &&
		platform_monotonic_ns() < until_ns) {
		const int result = worker_poll(&worker->worker, &worker->put_off, err);

		if (result < 0)
			return result;
		if (worker->put_off == REPORT_NONE)
			worker_sleep(&alone, 1, QUIET_GRACE_NS / 100);
	}
	if (is_under_way(campaign, worker)) {
		worker->put_off = REPORT_DIED;
		worker->was_sent_away = true;
	}
	return 0;
}

int campaign_clear_way(struct campaign *campaign, struct error *err)
{
	const uint64_t until_ns = platform_monotonic_ns() + QUIET_GRACE_NS;
	const struct contract *first = campaign->workers[0].worker.contract;
	int result = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (is_under_way(campaign, &campaign->workers[i]))
			worker_stop(&campaign->workers[i].worker);
	for (uint32_t i = 0; i < campaign->worker_count && result == 0; i++)
		result = campaign_quiet_wait_for(campaign, &campaign->workers[i], until_ns, err);
	/* The report of the campaign names these races, which requires the symbols of this process. */
	if (campaign->races_seen_count && !campaign->symbols && first->guest_pid)
		(void)symbols_from_process(&campaign->symbols, (pid_t)first->guest_pid, NULL);
	for (uint32_t i = 0; i < campaign->worker_count && result == 0; i++)
		if (!campaign->workers[i]
				.worker.params.remote) /* remote processes disturb no local one */
			worker_kill(&campaign->workers[i].worker);
	return result;
}

/* True if the batch began while other processes of the target existed. */
static bool ran_beside_others(const struct campaign *campaign)
{
	return campaign->worker_count > 1 &&
	       (!campaign->is_alone || (campaign->alone_ns && campaign->reporting &&
					       campaign->reporting->begun_ns < campaign->alone_ns));
}

bool campaign_doubt_others(struct campaign *campaign, const struct confirmation *confirmation)
{
	if (!ran_beside_others(campaign) || confirmation_is_repeatable(confirmation) ||
		campaign_is_interrupted(campaign))
		return false;
	if (!campaign->is_alone)
		campaign_notice(campaign,
			"a failure that came up beside other processes of the program did not repeat without them; "
			"from now on one worker, as by -j 1");
	campaign->is_alone = campaign->is_disturbed = true;
	return true;
}

static bool takes_name(const struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (__atomic_load_n(
			    &campaign->workers[i].worker.contract->takes_name, __ATOMIC_RELAXED))
			return true;
	return false;
}

static bool are_others_there(const struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (is_under_way(campaign, &campaign->workers[i]))
			return true;
	return false;
}

int campaign_end_others(struct campaign *campaign, struct error *err)
{
	const int result = are_others_there(campaign) ? campaign_clear_way(campaign, err) : 0;

	campaign->alone_ns = platform_monotonic_ns();
	return result;
}

int campaign_share_no_names(struct campaign *campaign, struct error *err)
{
	if (campaign->is_alone || campaign->worker_count == 1 || campaign->options->remote ||
		!takes_name(campaign))
		return 0;
	campaign_notice(campaign,
		"the program binds a socket to a port or path that another process of it would want, too; from "
		"now on one worker, as by -j 1");
	campaign->is_alone = true;
	return campaign_end_others(campaign, err);
}

void campaign_forget_others(struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		worker->run_first = worker->run_end = campaign->run_next;
		if (worker == campaign->reporting)
			continue;
		worker->is_busy = worker->was_sent_away = false;
		worker->put_off = REPORT_NONE;
	}
}

void campaign_begin_again(struct campaign *campaign)
{
	struct worker *leader = &campaign->workers[0].worker;
	struct contract *contract = leader->contract;
	const uint64_t end = contract->strategy_offset + contract->strategy_bytes;
	uint64_t at = contract->strategy_offset, bytes;

	compare_forget(campaign);
	parts_drop_all(campaign);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		memset(&campaign->workers[i].worker.contract->totals, 0, sizeof contract->totals);
	campaign->parts.joined_runs = campaign->parts.compared_runs = 0;
	campaign->parts.dropped = (struct contract_totals){0};
	campaign->run_next = campaign->row.run_first;
	while ((bytes = contract_block_next(&leader->block, &at, end)) != 0) {
		memset((char *)contract + at, 0, bytes);
		at += bytes;
	}
	leader->is_strategy_fresh = true;
	campaign->is_disturbed = false;
}
