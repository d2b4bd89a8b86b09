/*
 * Synchronisation of tasks with the owner, for strategies whose tasks may diverge
 * (strategy_tasks.synchronise).
 *
 * Every few milliseconds all workers stop between two runs and exchange their results. A task that
 * has diverged too far returns to its state at the last synchronisation: the interval bounds the
 * lost work.
 */
#include "explore/schemes/tasks.h"

#include "explore/services.h"
#include "platform/platform.h"

/* A stop costs about ten microseconds and, for each worker, the rest of its current run. */
#define SYNCHRONISE_NS UINT64_C(10000000)
#define SYNCHRONISE_RUNS 50
/* Interval with remote workers, whose states travel over the network. */
#define SYNCHRONISE_REMOTE_NS UINT64_C(200000000)

/* Returns false if the runs must be the same for every number of workers: lessons that arrive late
 * would change them. */
static bool tasks_are_synchronised(const struct campaign *campaign)
{
	return campaign->tasks->strategy->synchronise && !tasks_are_exact(campaign);
}

/* Returns the duration of SYNCHRONISE_RUNS runs, at least the minimum interval. */
static uint64_t tasks_synchronise_interval_ns(const struct campaign *campaign)
{
	const struct contract_totals *totals = &campaign->workers[0].worker.contract->totals;
	const uint64_t elapsed_ns = platform_monotonic_ns() - campaign->times.started_ns;
	const uint64_t runs_ns = elapsed_ns / (totals->runs + 1) * SYNCHRONISE_RUNS;
	const uint64_t least_ns =
		campaign->options->remote ? SYNCHRONISE_REMOTE_NS : SYNCHRONISE_NS;

	return runs_ns > least_ns ? runs_ns : least_ns;
}

uint64_t tasks_rest_ns(const struct campaign *campaign)
{
	const uint64_t elapsed_ns = platform_monotonic_ns() - campaign->times.started_ns;
	const uint64_t due_ns = campaign->tasks->handling_ns * TASKS_SHARE / campaign->worker_count;

	return due_ns > elapsed_ns ? due_ns - elapsed_ns : 0;
}

uint64_t tasks_synchronise_due(struct campaign *campaign)
{
	const uint64_t now_ns = platform_monotonic_ns();
	uint64_t due_ns;

	if (!tasks_are_synchronised(campaign) || campaign->tasks->is_synchronising)
		return UINT64_MAX;
	due_ns = campaign->tasks->synchronised_ns + tasks_synchronise_interval_ns(campaign);
	if (due_ns < now_ns + tasks_rest_ns(campaign))
		due_ns = now_ns + tasks_rest_ns(campaign);
	if (now_ns < due_ns)
		return due_ns - now_ns;
	campaign->tasks->is_synchronising = true;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy && !campaign->workers[i].is_comparing)
			worker_stop(&campaign->workers[i].worker);
	return 0;
}

static void tasks_save_state(struct campaign *campaign, struct campaign_worker *worker)
{
	struct task *task = worker->task;
	const struct contract *contract = worker->worker.contract;

	if (!task->synchronised)
		task->synchronised = tasks_map_state(campaign);
	if (!task->synchronised)
		return;
	campaign->tasks->strategy->copy(task->synchronised, tasks_state_of(worker));
	task->synchronised_totals = contract->totals;
	task->synchronised_failures = task->failure_count;
}

/* Returns the task to its last synchronised state, which must exist. Without such a state the task
 * would diverge again. */
static void tasks_go_back(struct campaign *campaign, struct campaign_worker *worker)
{
	struct task *task = worker->task;
	struct contract_totals since = worker->worker.contract->totals;

	tasks_add_totals(&since, &task->synchronised_totals, UINT64_MAX);
	tasks_add_totals(&campaign->tasks->discarded, &since, 1);
	tasks_add_totals(&worker->before, &since, 1);
	task->synchronised_totals = worker->worker.contract->totals;
	while (task->failure_count > task->synchronised_failures)
		failure_discard(&task->failures[--task->failure_count]);
	task->is_paused &= task->failure_count > 0;
	campaign->tasks->strategy->copy(tasks_state_of(worker), task->synchronised);
	worker->worker.contract->plan.epoch = ++campaign->tasks->epochs;
}

bool tasks_synchronise(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct strategy_tasks *strategy = campaign->tasks->strategy;
	void *owner = tasks_state_of(&campaign->workers[0]);
	bool is_synchronised;

	if (!worker_is_valid_state(&worker->worker, tasks_state_of(worker))) {
		strategy->leave(owner, worker->task->number);
		tasks_discard(campaign, worker);
		return false;
	}
	if (!tasks_are_synchronised(campaign))
		return true;
	is_synchronised = strategy->synchronise(owner, tasks_state_of(worker));
	if (!is_synchronised && worker->task->synchronised) {
		tasks_go_back(campaign, worker);
		is_synchronised = strategy->synchronise(owner, tasks_state_of(worker));
	}
	if (is_synchronised) {
		if (strategy->runs(tasks_state_of(worker)))
			tasks_save_state(campaign, worker);
		return true;
	}
	strategy->leave(owner, worker->task->number);
	tasks_discard(campaign, worker);
	return false;
}

static bool tasks_is_complete(const struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];

	return worker->task && !worker->is_busy && !worker->task->is_paused &&
	       strategy->search.is_exhausted(contract_strategy(worker->worker.contract));
}

/* Copies the task's state for a later join, so that its worker is free. */
static void tasks_keep(struct campaign *campaign, struct campaign_worker *worker)
{
	struct tasks *const tasks = campaign->tasks;
	void *state = tasks->kept_count == TASKS_KEPT ? NULL : tasks_map_state(campaign);

	if (!state) {
		tasks_discard(campaign, worker);
		return;
	}
	tasks->strategy->copy(state, tasks_state_of(worker));
	worker->task->state = state;
	worker->task->totals = tasks_totals(worker);
	tasks->kept[tasks->kept_count++] = worker->task;
	worker->task = NULL;
}

int tasks_settle(struct campaign *campaign, struct error *err)
{
	const uint32_t awaited =
		campaign->tasks->strategy->awaited(tasks_state_of(&campaign->workers[0]));
	const bool is_synchronising = campaign->tasks->is_synchronising;
	int result = 0;

	campaign->tasks->is_synchronising = false;
	for (uint32_t i = 1; i < campaign->worker_count && result == 0; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (!worker->task || worker->is_busy || worker->task->number == awaited)
			continue;
		if (!tasks_synchronise(campaign, worker) || worker->task->is_paused)
			continue;
		if (tasks_is_complete(campaign, worker))
			tasks_keep(campaign, worker);
		else
			result = tasks_start(campaign, worker, err);
	}
	if (is_synchronising)
		campaign->tasks->synchronised_ns = platform_monotonic_ns();
	return result;
}
