/* One task: its totals, its failures, and its end without being joined. */
#include "explore/schemes/tasks.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/array.h"
#include "explore/services.h"

void tasks_add_totals(
	struct contract_totals *to, const struct contract_totals *from, const uint64_t sign)
{
	to->runs += sign * from->runs;
	to->failures += sign * from->failures;
	to->steps += sign * from->steps;
	to->digest += sign * from->digest;
	for (int kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		to->outcome[kind] += sign * from->outcome[kind];
	for (uint32_t i = 0; i < CONTRACT_KNOWN_MAX; i++)
		to->known[i] += sign * from->known[i];
}

struct contract_totals tasks_totals(const struct campaign_worker *worker)
{
	struct contract_totals totals = worker->worker.contract->totals;

	tasks_add_totals(&totals, &worker->before, UINT64_MAX);
	return totals;
}

void *tasks_map_state(const struct campaign *campaign)
{
	void *state = mmap(NULL, campaign->workers[0].worker.contract->strategy_bytes,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return state == MAP_FAILED ? NULL : state;
}

static void task_tasks_unmap_state(const struct campaign *campaign, void *state)
{
	if (state) /* munmap() cannot fail: the mapping is raddle's own */
		(void)munmap(state, campaign->workers[0].worker.contract->strategy_bytes);
}

void tasks_release_task(struct campaign *campaign, struct task *task)
{
	if (!task)
		return;
	while (task->failure_count)
		failure_discard(&task->failures[--task->failure_count]);
	free(task->failures);
	task_tasks_unmap_state(campaign, task->state);
	task_tasks_unmap_state(campaign, task->synchronised);
	free(task);
}

void tasks_discard(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct contract_totals totals = tasks_totals(worker);

	if (worker->task)
		tasks_add_totals(&campaign->tasks->discarded, &totals, 1);
	tasks_release_task(campaign, worker->task);
	worker->task = NULL;
}

void tasks_discard_kept(struct campaign *campaign, uint32_t index)
{
	struct tasks *const tasks = campaign->tasks;
	struct task *task = tasks->kept[index];

	tasks->kept[index] = tasks->kept[--tasks->kept_count];
	tasks_add_totals(&tasks->discarded, &task->totals, 1);
	tasks_release_task(campaign, task);
}

void tasks_discard_all(struct campaign *campaign)
{
	struct tasks *const tasks = campaign->tasks;

	tasks->is_synchronising = false;
	for (uint32_t i = 1; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (worker->is_comparing)
			/* a comparison does not depend on the owner's state, so it continues */
			continue;
		if (worker->is_busy)
			worker_kill(&worker->worker);
		worker->is_busy = false;
		worker->deferred = REPORT_NONE;
		tasks_discard(campaign, worker);
	}
	while (tasks->kept_count)
		tasks_discard_kept(campaign, tasks->kept_count - 1);
}

void tasks_take_failure(struct campaign *campaign, struct campaign_worker *worker)
{
	struct task *task = worker->task;

	task->failures = array_room(task->failures, task->failure_count, sizeof *task->failures);
	if (!failure_copy_from(campaign, worker, &task->failures[task->failure_count]))
		return;
	for (uint32_t i = 0; i < task->failure_count; i++)
		if (task->failures[i].key == task->failures[task->failure_count].key) {
			failure_discard(&task->failures[task->failure_count]);
			return;
		}
	task->failure_count++;
	task->is_paused = !campaign->options->keep_going;
}

int tasks_investigate(struct campaign *campaign, const struct task *task, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < task->failure_count && result == 0; i++)
		result = failure_investigate(campaign, &task->failures[i], err);
	return result;
}
