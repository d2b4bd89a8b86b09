/*
 * Tasks of an exhaustive strategy, made by several workers.
 *
 * Worker 0 owns the strategy's state and makes runs in the order of a single worker. Idle workers
 * receive tasks: subtrees of the search that the owner will reach later (struct strategy_tasks).
 * When the owner reaches a task, the task is joined: its results replace the runs that the owner
 * would make. Therefore runs, findings and verdict do not depend on the number of workers.
 *
 * Life of a task: split -> made by its worker -> kept if complete early -> joined or discarded.
 * Failures of a task are investigated when the task is joined. A task explores with the owner's
 * view of shared memory. A task that discovers more shared memory is discarded, and the owner makes
 * its runs again.
 */
#include "explore/schemes/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "explore/services.h"
#include "platform/platform.h"
#include "worker/remote.h"

/* The owner runs at least this long before an interrupt makes it split off a task. The time doubles
 * if no task could be split off. */
#define PATIENCE_LEAST_NS UINT64_C(300000)
#define PATIENCE_MOST_NS UINT64_C(20000000)
/* Runs of a task without a budget in runs. */
#define RUNS_ENDLESS (UINT64_C(1) << 40)

static void tasks_open(struct campaign *campaign)
{
	campaign->tasks = array_new(1, sizeof *campaign->tasks);
	campaign->tasks->strategy = strategies[campaign->options->strategy]->search.tasks;
	campaign->tasks->patience_ns = PATIENCE_LEAST_NS;
}

/* Returns true for a campaign with a budget in runs, or with a digest. In a campaign with a budget
 * in time, the runs depend on the workers. */
bool tasks_are_exact(const struct campaign *campaign)
{
	return campaign->options->schedules || campaign->options->has_digest;
}

void *tasks_state_of(const struct campaign_worker *worker)
{
	return contract_strategy(worker->worker.contract);
}

static void *tasks_owner_state(const struct campaign *campaign)
{
	return tasks_state_of(&campaign->workers[0]);
}

static uint64_t tasks_count_runs(const struct contract_totals *totals)
{
	return totals->runs - totals->outcome[OUTCOME_TAINTED];
}

static uint64_t tasks_runs_made(const struct campaign *campaign)
{
	return campaign->row.run_first + campaign->tasks->joined_runs +
	       tasks_count_runs(&campaign->workers[0].worker.contract->totals);
}

static void tasks_add_up(struct campaign *campaign, struct contract_totals *totals)
{
	sequence_add_totals(campaign, totals);
	for (uint32_t i = 1; i < campaign->worker_count; i++) {
		const struct contract_totals *others =
			&campaign->workers[i].worker.contract->totals;

		tasks_add_totals(totals, others, 1);
		if (others->threads_most > totals->threads_most)
			totals->threads_most = others->threads_most;
		if (others->steps_most > totals->steps_most)
			totals->steps_most = others->steps_most;
	}
	tasks_add_totals(totals, &campaign->tasks->discarded, UINT64_MAX);
	campaign->result->runs_made -= campaign->tasks->compared_runs;
}

static void tasks_close(struct campaign *campaign)
{
	struct tasks *const tasks = campaign->tasks;

	if (!tasks)
		return;
	while (tasks->kept_count)
		tasks_release_task(campaign, tasks->kept[--tasks->kept_count]);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		tasks_release_task(campaign, campaign->workers[i].task);
	free(tasks);
}

int tasks_start(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const uint64_t left = runs_left(campaign);

	worker->run_first = campaign->runs.next + 1;
	worker->run_end = worker->run_first + (left < RUNS_ENDLESS ? left : RUNS_ENDLESS);
	return loop_start(campaign, worker, err);
}

/* Returns whether the last run showed new shared memory, which gives the next run other scheduling
 * points. */
static bool tasks_has_new_memory(const struct contract *contract)
{
	const struct contract_memory *memory = contract_memory((struct contract *)contract);

	return contract->has_memory_sites && memory_has_unsearched_points(memory);
}

/* Splits a task off the owner's search for the worker. Returns true if the worker has a task, or
 * must first repeat the first run. */
static bool tasks_split(struct campaign *campaign, struct campaign_worker *worker)
{
	struct tasks *const tasks = campaign->tasks;
	struct contract *contract = worker->worker.contract;

	/* The split overwrites the old state of the block, whose pages are already allocated. */
	if (!tasks->strategy->split(tasks_owner_state(campaign), tasks_state_of(worker),
		    tasks->created + 1, runs_left(campaign), tasks_are_exact(campaign)))
		return false;
	if (compare_is_due(campaign, worker)) {
		tasks->strategy->leave(tasks_owner_state(campaign), tasks->created + 1);
		return true;
	}
	memory_copy_view(campaign, worker);
	worker->task = array_new(1, sizeof *worker->task);
	worker->task->number = ++tasks->created;
	worker->before = contract->totals;
	worker->worker.is_strategy_fresh = contract->plan.is_fresh_state = false;
	contract->plan.is_task = true;
	contract->plan.epoch = ++tasks->epochs;
	return true;
}

/* Gives tasks to all idle workers. Focused campaigns have no tasks, because their runs depend on
 * sites that the worker's earlier runs use. */
static int tasks_split_for_all(struct campaign *campaign, struct error *err)
{
	struct tasks *const tasks = campaign->tasks;
	bool is_useless = campaign->is_focused;

	if (campaign->exclusive.is_active || tasks_rest_ns(campaign))
		return 0;
	for (uint32_t i = 1; i < campaign->worker_count && !is_useless; i++) {
		struct campaign_worker *worker = &campaign->workers[i];
		int result = 0;

		if (worker->task || worker->is_busy ||
			(campaign->options->remote && remote_is_lost(&worker->worker)))
			continue;
		if (tasks->kept_count + campaign->worker_count <= TASKS_KEPT &&
			tasks_split(campaign, worker))
			result = worker->task ? tasks_start(campaign, worker, err)
					      : compare_make(campaign, worker, err);
		else
			is_useless = true;
		if (result < 0)
			return result;
	}
	if (!is_useless)
		tasks->patience_ns = PATIENCE_LEAST_NS;
	else if (tasks->patience_ns < PATIENCE_MOST_NS)
		tasks->patience_ns *= 2;
	return 0;
}

static bool tasks_is_any_busy(const struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy && campaign->workers[i].task)
			return true;
	return false;
}

/* Joins the task's state with the owner's. Returns false if the task is useless. */
static bool tasks_join_state(struct campaign *campaign, uint32_t number, void *state,
	const struct contract_totals *totals)
{
	struct tasks *const tasks = campaign->tasks;
	struct campaign_worker *owner = &campaign->workers[0];

	owner->worker.contract->plan.epoch++;
	if (tasks_count_runs(totals) > runs_left(campaign)) {
		tasks->strategy->leave(tasks_owner_state(campaign), number);
		return false;
	}
	if (!tasks->strategy->join(tasks_owner_state(campaign), state, tasks_are_exact(campaign)))
		return false;
	tasks->joined_runs += tasks_count_runs(totals);
	campaign->runs.next = tasks_runs_made(campaign);
	return true;
}

static int tasks_join_worker(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_totals totals;
	int result;

	if (!tasks_synchronise(campaign, worker))
		return 0;
	totals = tasks_totals(worker);
	if (!tasks_join_state(campaign, worker->task->number, tasks_state_of(worker), &totals)) {
		tasks_discard(campaign, worker);
		return 0;
	}
	result = tasks_investigate(campaign, worker->task, err);
	tasks_release_task(campaign, worker->task);
	worker->task = NULL;
	return result;
}

static struct campaign_worker *tasks_find_worker(struct campaign *campaign, uint32_t number)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (campaign->workers[i].task && campaign->workers[i].task->number == number)
			return &campaign->workers[i];
	return NULL;
}

static int tasks_join_kept(struct campaign *campaign, uint32_t number, struct error *err)
{
	struct tasks *const tasks = campaign->tasks;
	struct task *task;
	uint32_t i = 0;
	int result = 0;

	while (i < tasks->kept_count && tasks->kept[i]->number != number)
		i++;
	if (i == tasks->kept_count) { /* the task was dropped before */
		tasks->strategy->leave(tasks_owner_state(campaign), number);
		return 0;
	}
	task = tasks->kept[i];
	tasks->kept[i] = tasks->kept[--tasks->kept_count];
	if (tasks_join_state(campaign, number, task->state, &task->totals))
		result = tasks_investigate(campaign, task, err);
	else
		tasks_add_totals(&tasks->discarded, &task->totals, 1);
	tasks_release_task(campaign, task);
	return result;
}

/* *may_continue: false if the owner must wait for the worker of a task. */
static int tasks_join_awaited(struct campaign *campaign, bool *may_continue, struct error *err)
{
	const struct strategy_tasks *strategy = campaign->tasks->strategy;
	uint32_t number;
	int result = 0;

	*may_continue = true;
	while (result == 0 && !campaign->is_stopping && !campaign->exclusive.must_repeat &&
		(number = strategy->awaited(tasks_owner_state(campaign))) != 0) {
		struct campaign_worker *worker = tasks_find_worker(campaign, number);

		if (worker && worker->is_busy) {
			worker_stop(&worker->worker);
			*may_continue = false;
			return 0;
		}
		if (worker)
			result = tasks_join_worker(campaign, worker, err);
		else
			result = tasks_join_kept(campaign, number, err);
	}
	return result;
}

/* Begins the search again from its first run, with one worker. */
static void tasks_restart_search(struct campaign *campaign)
{
	struct worker *owner = &campaign->workers[0].worker;

	compare_discard(campaign);
	tasks_discard_all(campaign);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		memset(&campaign->workers[i].worker.contract->totals, 0,
			sizeof owner->contract->totals);
	campaign->tasks->joined_runs = campaign->tasks->compared_runs = 0;
	campaign->tasks->discarded = (struct contract_totals){0};
	campaign->runs.next = campaign->row.run_first;
	worker_clear_strategy(owner, owner->contract->strategy_bytes);
	campaign->exclusive.must_repeat = false;
}

static int tasks_join_and_split(struct campaign *campaign, bool *may_continue, struct error *err)
{
	struct campaign_worker *owner = &campaign->workers[0];
	const struct strategy *strategy = strategies[campaign->options->strategy];
	int result;

	*may_continue = true;
	if (!campaign->has_started)
		return 0;
	if (campaign->exclusive.must_repeat)
		tasks_restart_search(campaign);
	if (campaign->tasks->is_synchronising && tasks_is_any_busy(campaign)) {
		*may_continue =
			false; /* the other workers must also stop for the synchronisation */
		return 0;
	}
	campaign->runs.next = tasks_runs_made(campaign);
	if (tasks_has_new_memory(owner->worker.contract)) {
		/* the owner's next run restarts the search with new memory points */
		tasks_discard_all(campaign);
		return 0;
	}
	result = tasks_settle(campaign, err);
	if (result == 0)
		result = tasks_join_awaited(campaign, may_continue, err);
	if (result == 0 && campaign->exclusive.must_repeat)
		return tasks_join_and_split(campaign, may_continue, err);
	if (result < 0 || !*may_continue)
		return result;
	if (!runs_left(campaign) || strategy->search.is_exhausted(tasks_owner_state(campaign))) {
		*may_continue = !compare_is_running(campaign);
		campaign->is_stopping = *may_continue;
		return 0;
	}
	return campaign->is_stopping ? 0 : tasks_split_for_all(campaign, err);
}

static int tasks_next_batch(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	const uint64_t begun_ns = platform_monotonic_ns();
	bool may_continue;
	int result;

	if (worker != campaign->workers)
		return 0; /* the owner splits off tasks for the other workers */
	result = tasks_join_and_split(campaign, &may_continue, err);
	campaign->tasks->handling_ns += platform_monotonic_ns() - begun_ns;
	if (result < 0 || !may_continue || campaign->is_stopping)
		return result;
	return sequence_next_batch(campaign, worker, err);
}

static bool tasks_is_awaited(struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct campaign_worker *owner = &campaign->workers[0];

	return !owner->is_busy && campaign->tasks->strategy->awaited(tasks_owner_state(campaign)) ==
					  worker->task->number;
}

static int tasks_take_task_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct contract *contract = worker->worker.contract;
	int result = 0;

	worker->is_busy = false;
	if (worker->is_comparing &&
		(worker->was_ended_here || report == REPORT_BATCH || report == REPORT_FAILURE))
		return compare_take(campaign, worker, report, err);
	if (report == REPORT_TAINTED)
		result = restart_take_taint(campaign, worker, err);
	else if (report == REPORT_DIED && !worker->was_ended_here && !worker->worker.is_lost)
		result = restart_worker_died(campaign, worker, err);
	if (result == 0 && worker->is_comparing)
		result = compare_take(campaign, worker, report, err);
	if (result < 0 || !worker->task)
		return result;
	if (campaign->exclusive.is_active || worker->was_ended_here || worker->worker.is_lost ||
		tasks_has_new_memory(contract)) {
		worker->was_ended_here = false;
		worker->has_memory = false;
		tasks_discard(campaign, worker);
		return 0;
	}
	if (report == REPORT_FAILURE)
		tasks_take_failure(campaign, worker);
	if (worker->task->is_paused)
		return 0;
	if (strategy->search.is_exhausted(tasks_state_of(worker)))
		return 0;
	return tasks_is_awaited(campaign, worker) || campaign->is_stopping ||
			       campaign->tasks->is_synchronising
		       ? 0
		       : tasks_start(campaign, worker, err);
}

static int tasks_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	int result;

	if (worker == campaign->workers) {
		compare_note_first(campaign, report);
		return 0;
	}
	result = tasks_take_task_report(campaign, worker, report, err);
	return result < 0 ? result : 1;
}

static bool tasks_are_finished(const struct campaign *campaign)
{
	return sequence_is_finished(campaign) && !compare_is_running(campaign);
}

/* Returns whether a worker is idle and could execute a task. */
static bool tasks_is_any_free(const struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count && !campaign->exclusive.is_active; i++) {
		const struct campaign_worker *worker = &campaign->workers[i];

		if (!worker->worker.is_lost && !worker->is_busy &&
			!(worker->task && worker->task->is_paused))
			return true;
	}
	return false;
}

/* Interrupts the owner if a worker is idle or a synchronisation is due. Returns the time until the
 * next interrupt. */
static uint64_t tasks_wait_ns(struct campaign *campaign)
{
	struct campaign_worker *owner = &campaign->workers[0];
	const uint64_t now_ns = platform_monotonic_ns();

	if (!campaign->has_started || !owner->is_busy)
		return UINT64_MAX;
	if (!tasks_is_any_free(campaign))
		return tasks_synchronise_due(campaign);
	if (tasks_rest_ns(campaign))
		return tasks_rest_ns(campaign);
	if (now_ns - owner->begun_ns < campaign->tasks->patience_ns)
		return owner->begun_ns + campaign->tasks->patience_ns - now_ns;
	worker_stop(&owner->worker);
	return UINT64_MAX;
}

/* Ends all tasks. With `is_cut`, failures of tasks that are not joined are investigated, too. */
static int tasks_end(struct campaign *campaign, bool is_cut, struct error *err)
{
	int result = 0;

	/* Failures and runs of tasks count although the owner has not reached these tasks. */
	for (uint32_t i = 1; is_cut && i < campaign->worker_count && result == 0; i++)
		if (campaign->workers[i].task)
			result = tasks_investigate(campaign, campaign->workers[i].task, err);
	for (uint32_t i = 0; is_cut && i < campaign->tasks->kept_count && result == 0; i++)
		result = tasks_investigate(campaign, campaign->tasks->kept[i], err);
	compare_discard(campaign);
	if (!is_cut)
		tasks_discard_all(campaign);
	return result;
}

const struct scheme scheme_tasks = {
	.open = tasks_open,
	.begin = compare_begin,
	.close = tasks_close,
	.next_batch = tasks_next_batch,
	.take_report = tasks_take_report,
	.take_failure = sequence_take_failure,
	.is_finished = tasks_are_finished,
	.wait_ns = tasks_wait_ns,
	.end = tasks_end,
	.ignore_race = sequence_ignore_race,
	.runs_made = tasks_runs_made,
	.add_totals = tasks_add_up,
};
