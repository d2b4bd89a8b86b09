/*
 * Synchronisation of tasks with the leader, for strategies whose tasks may diverge
 * (strategy_parts.tell).
 *
 * Every few milliseconds all workers stop between two runs and exchange what they have learnt. A
 * task that has diverged too far returns to its state at the last synchronisation. The interval
 * therefore bounds the work that is lost.
 */
#include "explore/campaign_internal.h"

#include <sys/mman.h>

#include "platform/platform.h"

/*
 * Least interval. A stop costs about ten microseconds and, for each worker, the rest of its current
 * run.
 */
#define TELL_EVERY_NS UINT64_C(10000000)
#define TELL_EVERY_RUNS 50
/* Least interval with remote workers, because states travel over the network. */
#define TELL_REMOTE_EVERY_NS UINT64_C(200000000)

static void *campaign_synchronise_state_of(const struct campaign_worker *worker)
{
	return contract_strategy(worker->worker.contract);
}

/* False where the order of runs counts: lessons out of order could not be used. */
bool parts_tell_each_other(const struct campaign *campaign)
{
	return campaign->parts.strategy && campaign->parts.strategy->tell &&
	       !parts_are_exact(campaign);
}

/*
 * Interval between synchronisations: the time of TELL_EVERY_RUNS runs, but not below the least
 * interval.
 */
static uint64_t interval_ns(const struct campaign *campaign)
{
	const struct contract_totals *totals = &campaign->workers[0].worker.contract->totals;
	const uint64_t elapsed_ns = platform_monotonic_ns() - campaign->started_ns;
	const uint64_t runs_ns = elapsed_ns / (totals->runs + 1) * TELL_EVERY_RUNS;
	const uint64_t least_ns = campaign->options->remote ? TELL_REMOTE_EVERY_NS : TELL_EVERY_NS;

	return runs_ns > least_ns ? runs_ns : least_ns;
}

uint64_t parts_due(struct campaign *campaign)
{
	const uint64_t now_ns = platform_monotonic_ns();
	uint64_t due_ns;

	if (!parts_tell_each_other(campaign) || campaign->parts.is_telling)
		return UINT64_MAX;
	due_ns = campaign->parts.told_ns + interval_ns(campaign);
	if (now_ns < due_ns)
		return due_ns - now_ns;
	campaign->parts.is_telling = true;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy && !campaign->workers[i].is_comparing)
			worker_stop(&campaign->workers[i].worker);
	return 0;
}

static void campaign_synchronise_note(struct campaign *campaign, struct campaign_worker *worker)
{
	struct campaign_part *part = worker->part;
	const struct contract *contract = worker->worker.contract;

	if (!part->told) {
		part->told = mmap(NULL, contract->strategy_bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (part->told == MAP_FAILED) {
			part->told = NULL;
			return;
		}
	}
	campaign->parts.strategy->copy(part->told, campaign_synchronise_state_of(worker));
	part->told_totals = contract->totals;
	part->told_failures = part->failure_count;
}

/*
 * Resets the task to its state at the last synchronisation and discards the runs since then.
 * Requires part->told: without it the task would only diverge again.
 */
static void go_back(struct campaign *campaign, struct campaign_worker *worker)
{
	struct campaign_part *part = worker->part;
	struct contract_totals since = worker->worker.contract->totals;

	parts_add_totals(&since, &part->told_totals, UINT64_MAX);
	parts_add_totals(&campaign->parts.dropped, &since, 1);
	parts_add_totals(&worker->before, &since, 1);
	part->told_totals = worker->worker.contract->totals;
	while (part->failure_count > part->told_failures)
		campaign_failure_release(&part->failures[--part->failure_count]);
	part->rests &= part->failure_count > 0;
	campaign->parts.strategy->copy(campaign_synchronise_state_of(worker), part->told);
	worker->worker.contract->plan.episode = ++campaign->parts.episodes;
}

bool parts_tell(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct strategy_parts *strategy = campaign->parts.strategy;
	void *leader = campaign_synchronise_state_of(&campaign->workers[0]);
	bool is_synchronised;

	if (!parts_tell_each_other(campaign))
		return true;
	is_synchronised = strategy->tell(leader, campaign_synchronise_state_of(worker));
	if (!is_synchronised && worker->part->told) {
		go_back(campaign, worker);
		is_synchronised = strategy->tell(leader, campaign_synchronise_state_of(worker));
	}
	if (is_synchronised) {
		if (strategy->runs(campaign_synchronise_state_of(worker)))
			campaign_synchronise_note(campaign, worker);
		return true;
	}
	strategy->leave(leader, worker->part->number);
	parts_drop(campaign, worker);
	return false;
}

/* ---- while the leader is idle ---- */

bool parts_is_done(const struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];

	return worker->part && !worker->is_busy && !worker->part->rests &&
	       strategy->search.is_exhausted(contract_strategy(worker->worker.contract));
}

/*
 * The task is complete before the leader reaches it: copies its state, so that its worker can take
 * another task.
 */
static void campaign_synchronise_keep(struct campaign *campaign, struct campaign_worker *worker)
{
	struct campaign_parts *parts = &campaign->parts;
	void *state = mmap(NULL, worker->worker.contract->strategy_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (state == MAP_FAILED || parts->kept_count == CAMPAIGN_PARTS_KEPT) {
		parts_drop(campaign, worker);
		return;
	}
	parts->strategy->copy(state, campaign_synchronise_state_of(worker));
	worker->part->state = state;
	worker->part->totals = parts_totals(worker);
	parts->kept[parts->kept_count++] = worker->part;
	worker->part = NULL;
}

int parts_settle(struct campaign *campaign, struct error *err)
{
	const uint32_t awaited = campaign->parts.strategy->awaited(
		campaign_synchronise_state_of(&campaign->workers[0]));
	const bool is_telling = campaign->parts.is_telling;
	int result = 0;

	campaign->parts.is_telling = false;
	for (uint32_t i = 1; i < campaign->worker_count && result == 0; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (!worker->part || worker->is_busy || worker->part->number == awaited)
			continue;
		if (!parts_tell(campaign, worker) || worker->part->rests)
			continue;
		if (parts_is_done(campaign, worker))
			campaign_synchronise_keep(campaign, worker);
		else
			result = parts_make(campaign, worker, err);
	}
	if (is_telling)
		campaign->parts.told_ns = platform_monotonic_ns();
	return result;
}
