/*
 * Exclusive confirmation runs.
 *
 * Processes of one program may disturb each other through a file, a port or a name. Therefore all
 * other processes of the target are stopped before a failure is replayed. A failure that does not
 * repeat then is no finding. Its run is made again, and one worker makes all further runs.
 */
#include "explore/services.h"

#include "platform/platform.h"
#include "symbols/symbols.h"

/* A run that takes longer than this grace period is killed and made again. */
#define EXCLUSIVE_GRACE_NS UINT64_C(500000000)

/* With is_one_by_one, a report must wait while an earlier run is under way. Returns true then. */
static bool exclusive_must_wait(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	if (!campaign->options->is_one_by_one)
		return false;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy &&
			campaign->workers[i].run_first < worker->run_first)
			return true;
	return false;
}

int exclusive_poll(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report *report, struct error *err)
{
	*report = worker->deferred;
	if (*report == REPORT_NONE) {
		const int result = worker_poll(&worker->worker, report, err);

		if (result < 0)
			return result;
	}
	worker->deferred = exclusive_must_wait(campaign, worker) ? *report : REPORT_NONE;
	if (worker->deferred != REPORT_NONE)
		*report = REPORT_NONE;
	return 0;
}

uint64_t exclusive_batch_end(const struct campaign_worker *worker)
{
	const struct contract *contract = worker->worker.contract;

	return contract->stop ? worker->run_first + contract->totals.runs - worker->runs_before
			      : worker->run_end;
}

static bool exclusive_is_running(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	return worker != campaign->exclusive.reporting && worker->is_busy &&
	       worker->deferred == REPORT_NONE && !worker->worker.params.remote;
}

/* Stores the report in `deferred` when the batch ends or the time is up. */
static int exclusive_wait_for(struct campaign *campaign, struct campaign_worker *worker,
	uint64_t until_ns, struct error *err)
{
	struct worker *const alone = &worker->worker;

	while (exclusive_is_running(campaign, worker) && !signals_have_ended(campaign) &&
		platform_monotonic_ns() < until_ns) {
		const int result = worker_poll(&worker->worker, &worker->deferred, err);

		if (result < 0)
			return result;
		if (worker->deferred == REPORT_NONE)
			worker_sleep(&alone, 1, EXCLUSIVE_GRACE_NS / 100);
	}
	if (exclusive_is_running(campaign, worker)) {
		worker->deferred = REPORT_DIED;
		worker->was_ended_here = true;
	}
	return 0;
}

/* Loads the symbols of worker 0's process before it is killed. The campaign's report names observed
 * races by them. */
static void exclusive_load_symbols(struct campaign *campaign)
{
	const struct contract *first = campaign->workers[0].worker.contract;
	uint64_t races = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		races += campaign->workers[i].races_seen;
	if (races && !campaign->symbols && first->guest_pid)
		(void)symbols_from_process(&campaign->symbols, (pid_t)first->guest_pid, NULL);
}

int exclusive_stop_others(struct campaign *campaign, struct error *err)
{
	const uint64_t until_ns = platform_monotonic_ns() + EXCLUSIVE_GRACE_NS;
	int result = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (exclusive_is_running(campaign, &campaign->workers[i]))
			worker_stop(&campaign->workers[i].worker);
	for (uint32_t i = 0; i < campaign->worker_count && result == 0; i++)
		result = exclusive_wait_for(campaign, &campaign->workers[i], until_ns, err);
	exclusive_load_symbols(campaign);
	for (uint32_t i = 0; i < campaign->worker_count && result == 0; i++)
		if (!campaign->workers[i]
				/* remote processes do not disturb local ones */
				.worker.params.remote)
			worker_kill(&campaign->workers[i].worker);
	return result;
}

/* Returns whether other processes of the target existed when the batch began. This is never so for the first run of a
 * campaign, and a program without threads has only this run. */
static bool exclusive_ran_beside(const struct campaign *campaign)
{
	return campaign->worker_count > 1 && campaign->has_started &&
	       (!campaign->exclusive.is_active ||
		       (campaign->exclusive.since_ns && campaign->exclusive.reporting &&
			       campaign->exclusive.reporting->begun_ns <
				       campaign->exclusive.since_ns));
}

bool exclusive_doubt_others(struct campaign *campaign, const struct confirmation *confirmation)
{
	if (!exclusive_ran_beside(campaign) || confirmation_is_repeatable(confirmation) ||
		signals_have_ended(campaign))
		return false;
	if (!campaign->exclusive.is_active)
		campaign_notice(campaign,
			"a failure that happened beside other processes of the program did not repeat alone; from now on one worker, as with -j 1");
	campaign->exclusive.is_active = campaign->exclusive.must_repeat = true;
	return true;
}

/* Returns bits NAME_x: the names of sockets that runs have used. An address that is missing counts if the worker has a
 * network of its own. */
static uint32_t exclusive_names(const struct campaign *campaign)
{
	uint32_t names = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		const struct worker *worker = &campaign->workers[i].worker;

		names |= worker->contract->names &
			 (worker->params.has_network ? NAME_ALL : NAME_TAKEN);
	}
	return names;
}

static bool exclusive_is_any_other(const struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (exclusive_is_running(campaign, &campaign->workers[i]))
			return true;
	return false;
}

int exclusive_begin(struct campaign *campaign, const char *notice, struct error *err)
{
	int result = 0;

	if (!campaign->exclusive.is_active)
		campaign_notice(campaign, "%s", notice);
	campaign->exclusive.is_active = true;
	/* Batches that other workers began earlier may have wrong results. */
	if (exclusive_is_any_other(campaign))
		result = exclusive_stop_others(campaign, err);
	campaign->exclusive.since_ns = platform_monotonic_ns();
	return result;
}

/* Gives each worker but the first a network of its own. Returns false if a worker has already begun with its runs, or
 * if the system does not permit it. */
static bool exclusive_divide_networks(struct campaign *campaign)
{
	struct error refusal;

	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy ||
			campaign->workers[i].worker.contract->totals.runs)
			return false;
	campaign->exclusive.has_networks = true;
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (restart_reopen(campaign, &campaign->workers[i], &refusal) < 0)
			return false;
	campaign_notice(campaign,
		"the program binds a socket to a port; each further worker runs it in a network of its own, which has only the loopback device");
	return true;
}

int exclusive_check_names(struct campaign *campaign, struct error *err)
{
	uint32_t names;

	if (campaign->exclusive.is_active || campaign->worker_count == 1 ||
		campaign->options->remote)
		return 0;
	names = exclusive_names(campaign);
	if (names & NAME_OF_FILE)
		return exclusive_begin(campaign,
			"the program binds a socket to a path, which its other processes cannot use at the same time; from now on one worker, as with -j 1",
			err);
	if (names & NAME_MISSING)
		return exclusive_begin(campaign,
			"the program uses an address outside of the loopback device; from now on one worker, as with -j 1",
			err);
	if (!names || campaign->exclusive.has_networks || exclusive_divide_networks(campaign))
		return 0;
	return exclusive_begin(campaign,
		"the program binds a socket to a port, which its other processes cannot use at the same time, and they cannot get networks of their own (network namespaces); from now on one worker, as with -j 1",
		err);
}

void exclusive_forget_others(struct campaign *campaign)
{
	for (uint32_t i = 0; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		worker->run_first = worker->run_end = campaign->runs.next;
		if (worker == campaign->exclusive.reporting)
			continue;
		worker->is_busy = worker->was_ended_here = false;
		worker->deferred = REPORT_NONE;
	}
}
