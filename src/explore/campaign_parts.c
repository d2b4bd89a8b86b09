/*
 * Tasks of an exhaustive strategy, made by several workers.
 *
 * Worker 0, the leader, owns the strategy's state and makes runs in the order of a single worker.
 * Idle workers receive tasks: subtrees of the search that the leader will reach later (struct
 * strategy_parts). When the leader reaches a task, the task is joined: its results replace the runs
 * that the leader would make. Therefore runs, findings and verdict do not depend on the number of
 * workers.
 *
 * Life of a task: split -> made by its worker -> kept if complete early -> joined or dropped.
 * Failures of a task are investigated when the task is joined. A task explores with the leader's
 * view of shared memory. A task that discovers more shared memory is dropped, and the leader makes
 * its runs again.
 */
#include "explore/campaign_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bug.h"
#include "worker/remote.h"
#include "platform/platform.h"

/*
 * Least and most time that the leader runs before it is interrupted to split off a task. The time
 * doubles when no task could be split off.
 */
#define PATIENCE_LEAST_NS UINT64_C(300000)
#define PATIENCE_MOST_NS UINT64_C(20000000)
/* Number of runs of a task without a budget in runs. */
#define RUNS_ENDLESS (UINT64_C(1) << 40)

void parts_begin(struct campaign *campaign)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];

	if (campaign->worker_count > 1)
		campaign->parts.strategy = strategy->search.parts;
	campaign->parts.patience_ns = PATIENCE_LEAST_NS;
}

/*
 * With a budget in runs, or a digest, the exact runs must be independent of the number of workers.
 * With a budget in time they never are.
 */
bool parts_are_exact(const struct campaign *campaign)
{
	return campaign->options->schedules || campaign->options->has_digest;
}

static struct campaign_worker *leader_of(struct campaign *campaign)
{
	return &campaign->workers[0];
}

static void *campaign_parts_state_of(const struct campaign_worker *worker)
{
	return contract_strategy(worker->worker.contract);
}

/* ---- totals ---- */

void parts_add_totals(
	struct contract_totals *to, const struct contract_totals *from, const uint64_t sign)
{
	to->runs += sign * from->runs;
	to->failures += sign * from->failures;
	to->steps += sign * from->steps;
	to->digest += sign * from->digest;
	for (int kind = 0; kind < OUTCOME_KIND_COUNT; kind++)
		to->outcome[kind] += sign * from->outcome[kind];
}

struct contract_totals parts_totals(const struct campaign_worker *worker)
{
	struct contract_totals totals = worker->worker.contract->totals;

	parts_add_totals(&totals, &worker->before, UINT64_MAX);
	return totals;
}

static uint64_t count_runs(const struct contract_totals *totals)
{
	return totals->runs - totals->outcome[OUTCOME_TAINTED];
}

uint64_t parts_runs_done(const struct campaign *campaign)
{
	return count_runs(&campaign->workers[0].worker.contract->totals) +
	       campaign->parts.joined_runs;
}

void parts_add_up(const struct campaign *campaign, struct contract_totals *totals)
{
	if (!campaign->parts.strategy)
		return;
	for (uint32_t i = 1; i < campaign->worker_count; i++) {
		const struct contract_totals *others =
			&campaign->workers[i].worker.contract->totals;

		parts_add_totals(totals, others, 1);
		if (others->threads_most > totals->threads_most)
			totals->threads_most = others->threads_most;
		if (others->steps_most > totals->steps_most)
			totals->steps_most = others->steps_most;
	}
	parts_add_totals(totals, &campaign->parts.dropped, UINT64_MAX);
}

/* ---- tasks ---- */

static void release_part(struct campaign *campaign, struct campaign_part *part)
{
	if (!part)
		return;
	while (part->failure_count)
		campaign_failure_release(&part->failures[--part->failure_count]);
	free(part->failures);
	/* Errors are impossible: these mappings are our own. */
	if (part->state)
		(void)munmap(part->state, leader_of(campaign)->worker.contract->strategy_bytes);
	if (part->told)
		(void)munmap(part->told, leader_of(campaign)->worker.contract->strategy_bytes);
	free(part);
}

void parts_drop(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct contract_totals totals = parts_totals(worker);

	if (worker->part)
		parts_add_totals(&campaign->parts.dropped, &totals, 1);
	release_part(campaign, worker->part);
	worker->part = NULL;
}

void parts_forget_kept(struct campaign *campaign, uint32_t index)
{
	struct campaign_parts *parts = &campaign->parts;
	struct campaign_part *part = parts->kept[index];

	parts->kept[index] = parts->kept[--parts->kept_count];
	parts_add_totals(&parts->dropped, &part->totals, 1);
	release_part(campaign, part);
}

void parts_drop_all(struct campaign *campaign)
{
	struct campaign_parts *parts = &campaign->parts;

	parts->is_telling = false;
	for (uint32_t i = 1; i < campaign->worker_count; i++) {
		struct campaign_worker *worker = &campaign->workers[i];

		if (worker->is_comparing)
			continue; /* a comparison does not depend on the leader's state */
		if (worker->is_busy)
			worker_kill(&worker->worker);
		worker->is_busy = false;
		worker->put_off = REPORT_NONE;
		parts_drop(campaign, worker);
	}
	while (parts->kept_count)
		parts_forget_kept(campaign, parts->kept_count - 1);
}

void parts_release(struct campaign *campaign)
{
	struct campaign_parts *parts = &campaign->parts;

	while (parts->kept_count)
		release_part(campaign, parts->kept[--parts->kept_count]);
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		release_part(campaign, campaign->workers[i].part);
}

/* The worker's last run failed: the failure is investigated when the task is joined. */
static void campaign_parts_take_failure(struct campaign *campaign, struct campaign_worker *worker)
{
	struct campaign_part *part = worker->part;

	part->failures =
		realloc(part->failures, (part->failure_count + 1u) * sizeof *part->failures);
	BUG_ON(!part->failures);
	if (!campaign_catch_failure(campaign, worker, &part->failures[part->failure_count]))
		return;
	for (uint32_t i = 0; i < part->failure_count; i++)
		if (part->failures[i].key == part->failures[part->failure_count].key) {
			campaign_failure_release(&part->failures[part->failure_count]);
			return;
		}
	part->failure_count++;
	part->rests = !campaign->options->keep_going;
}

static int look_into(struct campaign *campaign, const struct campaign_part *part, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < part->failure_count && result == 0; i++)
		result = campaign_look_into(campaign, &part->failures[i], err);
	return result;
}

/* ---- splitting ---- */

int parts_make(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_plan *plan = &worker->worker.contract->plan;
	const uint64_t left = campaign_runs_left(campaign);
	int result;

	if (!worker->part)
		return compare_make(campaign, worker, err);
	if (campaign->is_focused && !worker->has_groups &&
		contract_memory(worker->worker.contract)->module_count) {
		campaign_tell_groups(campaign, worker);
		worker->worker.remote_has_memory = false;
	}
	plan->restart = campaign->restart;
	plan->run_first = campaign->run_next + 1;
	plan->run_limit = left < RUNS_ENDLESS ? left : RUNS_ENDLESS;
	worker->is_busy = true;
	worker->begun_ns = platform_monotonic_ns();
	result = worker_begin(&worker->worker, err);
	if (result == 0 && campaign->parts.is_telling)
		worker_stop(&worker->worker);
	return result;
}

/*
 * True if the last run changed the view of shared memory, so the next run sees other scheduling
 * points.
 */
static bool has_news(const struct contract *contract)
{
	const struct contract_memory *memory = contract_memory((struct contract *)contract);

	return contract->has_memory_sites && (memory->newly_shared || memory->points_changed);
}

/*
 * Splits off a task for the worker. True: the worker has a task, or must first repeat the first
 * run.
 */
static bool campaign_parts_split(struct campaign *campaign, struct campaign_worker *worker)
{
	struct campaign_parts *parts = &campaign->parts;
	struct contract *contract = worker->worker.contract;

	/* split() overwrites the old state of the block, and its pages are already allocated. */
	if (!parts->strategy->split(campaign_parts_state_of(leader_of(campaign)),
		    campaign_parts_state_of(worker), parts->numbers + 1,
		    campaign_runs_left(campaign), parts_are_exact(campaign)))
		return false;
	if (compare_is_due(campaign, worker)) {
		parts->strategy->leave(
			campaign_parts_state_of(leader_of(campaign)), parts->numbers + 1);
		return true;
	}
	parts_teach_memory(campaign, worker);
	worker->part = calloc(1, sizeof *worker->part);
	BUG_ON(!worker->part);
	worker->part->number = ++parts->numbers;
	worker->before = contract->totals;
	worker->worker.is_strategy_fresh = contract->plan.is_fresh_state = false;
	contract->plan.is_part = true;
	contract->plan.episode = ++parts->episodes;
	return true;
}

/*
 * Splits off a task for each idle worker. Focused campaigns have no tasks: their runs depend on the
 * sites that earlier runs of the same worker have switched on.
 */
static int split_for_all(struct campaign *campaign, struct error *err)
{
	struct campaign_parts *parts = &campaign->parts;
	bool was_in_vain = campaign->is_focused;

	if (campaign->is_alone)
		return 0;
	for (uint32_t i = 1; i < campaign->worker_count && !was_in_vain; i++) {
		struct campaign_worker *worker = &campaign->workers[i];
		int result = 0;

		if (worker->part || worker->is_busy ||
			(campaign->options->remote && remote_is_lost(&worker->worker)))
			continue;
		if (parts->kept_count + campaign->worker_count <= CAMPAIGN_PARTS_KEPT &&
			campaign_parts_split(campaign, worker))
			result = parts_make(campaign, worker, err);
		else
			was_in_vain = true;
		if (result < 0)
			return result;
	}
	if (!was_in_vain)
		parts->patience_ns = PATIENCE_LEAST_NS;
	else if (parts->patience_ns < PATIENCE_MOST_NS)
		parts->patience_ns *= 2;
	return 0;
}

/* True if any worker executes a task. */
static bool campaign_parts_is_any_busy(const struct campaign *campaign)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (campaign->workers[i].is_busy && campaign->workers[i].part)
			return true;
	return false;
}

/* ---- joining ---- */

/* Joins the task that the leader has reached. False: the task is useless. */
static bool join_state(struct campaign *campaign, uint32_t number, void *state,
	const struct contract_totals *totals)
{
	struct campaign_parts *parts = &campaign->parts;
	struct campaign_worker *leader = leader_of(campaign);

	leader->worker.contract->plan.episode++;
	if (count_runs(totals) > campaign_runs_left(campaign)) {
		parts->strategy->leave(campaign_parts_state_of(leader), number);
		return false;
	}
	if (!parts->strategy->join(
		    campaign_parts_state_of(leader), state, parts_are_exact(campaign)))
		return false;
	parts->joined_runs += count_runs(totals);
	campaign->run_next = campaign->row.run_first + parts_runs_done(campaign);
	return true;
}

static int join_worker(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract_totals totals;
	int result;

	if (!parts_tell(campaign, worker))
		return 0;
	totals = parts_totals(worker);
	if (!join_state(campaign, worker->part->number, campaign_parts_state_of(worker), &totals)) {
		parts_drop(campaign, worker);
		return 0;
	}
	result = look_into(campaign, worker->part, err);
	release_part(campaign, worker->part);
	worker->part = NULL;
	return result;
}

static struct campaign_worker *find_worker(struct campaign *campaign, uint32_t number)
{
	for (uint32_t i = 1; i < campaign->worker_count; i++)
		if (campaign->workers[i].part && campaign->workers[i].part->number == number)
			return &campaign->workers[i];
	return NULL;
}

static int join_kept(struct campaign *campaign, uint32_t number, struct error *err)
{
	struct campaign_parts *parts = &campaign->parts;
	struct campaign_part *part;
	uint32_t i = 0;
	int result = 0;

	while (i < parts->kept_count && parts->kept[i]->number != number)
		i++;
	if (i == parts->kept_count) { /* the task was dropped before */
		parts->strategy->leave(campaign_parts_state_of(leader_of(campaign)), number);
		return 0;
	}
	part = parts->kept[i];
	parts->kept[i] = parts->kept[--parts->kept_count];
	if (join_state(campaign, number, part->state, &part->totals))
		result = look_into(campaign, part, err);
	else
		parts_add_totals(&parts->dropped, &part->totals, 1);
	release_part(campaign, part);
	return result;
}

/*
 * Joins all tasks that the leader has reached. *may_go_on: false if the leader must wait for the
 * worker of a task.
 */
static int join_awaited(struct campaign *campaign, bool *may_go_on, struct error *err)
{
	const struct strategy_parts *strategy = campaign->parts.strategy;
	uint32_t number;
	int result = 0;

	*may_go_on = true;
	while (result == 0 && !campaign->is_stopping && !campaign->is_disturbed &&
		(number = strategy->awaited(campaign_parts_state_of(leader_of(campaign)))) != 0) {
		struct campaign_worker *worker = find_worker(campaign, number);

		if (worker && worker->is_busy) {
			worker_stop(&worker->worker);
			*may_go_on = false;
			return 0;
		}
		if (worker)
			result = join_worker(campaign, worker, err);
		else
			result = join_kept(campaign, number, err);
	}
	return result;
}

int parts_lead_on(struct campaign *campaign, bool *may_go_on, struct error *err)
{
	struct campaign_worker *leader = leader_of(campaign);
	const struct strategy *strategy = strategies[campaign->options->strategy];
	int result;

	*may_go_on = true;
	if (!campaign->has_started)
		return 0;
	if (campaign->is_disturbed)
		campaign_begin_again(campaign);
	if (campaign->parts.is_telling && campaign_parts_is_any_busy(campaign)) {
		*may_go_on = false; /* the other workers must stop for the synchronisation, too */
		return 0;
	}
	campaign->run_next = campaign->row.run_first + parts_runs_done(campaign);
	leader->run_first = leader->run_end = campaign->run_next;
	if (has_news(leader->worker.contract)) {
		/* the leader's next run restarts the search with new memory points */
		parts_drop_all(campaign);
		return 0;
	}
	result = parts_settle(campaign, err);
	if (result == 0)
		result = join_awaited(campaign, may_go_on, err);
	if (result == 0 && campaign->is_disturbed)
		return parts_lead_on(campaign, may_go_on, err);
	if (result < 0 || !*may_go_on)
		return result;
	if (!campaign_runs_left(campaign) ||
		strategy->search.is_exhausted(campaign_parts_state_of(leader))) {
		*may_go_on = !compare_is_under_way(campaign);
		campaign->is_stopping = *may_go_on;
		return 0;
	}
	return campaign->is_stopping ? 0 : split_for_all(campaign, err);
}

/* ---- reports ---- */

static bool is_awaited(struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct campaign_worker *leader = leader_of(campaign);

	return !leader->is_busy && campaign->parts.strategy->awaited(
					   campaign_parts_state_of(leader)) == worker->part->number;
}

int parts_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	const struct strategy *strategy = strategies[campaign->options->strategy];
	struct contract *contract = worker->worker.contract;
	int result = 0;

	worker->is_busy = false;
	if (worker->is_comparing &&
		(worker->was_sent_away || report == REPORT_BATCH || report == REPORT_FAILURE))
		return compare_take(campaign, worker, report, err);
	if (report == REPORT_TAINTED)
		result = campaign_fall_back(campaign, (enum contract_restart)contract->plan.restart,
			contract->taint_text, contract->taint == TAINT_SHARED, err);
	else if (report == REPORT_DIED && !worker->was_sent_away && !worker->worker.is_lost)
		result = campaign_worker_died(campaign, worker, err);
	if (result == 0 && worker->is_comparing)
		result = compare_take(campaign, worker, report, err);
	if (result < 0 || !worker->part)
		return result;
	if (campaign->is_alone || worker->was_sent_away || worker->worker.is_lost ||
		has_news(contract)) {
		worker->was_sent_away = false;
		worker->has_memory = false;
		parts_drop(campaign, worker);
		return 0;
	}
	if (report == REPORT_FAILURE)
		campaign_parts_take_failure(campaign, worker);
	if (worker->part->rests)
		return 0;
	if (strategy->search.is_exhausted(campaign_parts_state_of(worker)))
		return 0;
	return is_awaited(campaign, worker) || campaign->is_stopping || campaign->parts.is_telling
		       ? 0
		       : parts_make(campaign, worker, err);
}

int parts_end(struct campaign *campaign, bool is_cut, struct error *err)
{
	int result = 0;

	if (!campaign->parts.strategy)
		return 0;
	/*
	 * The campaign ends early. Failures and runs of tasks count although the leader has not
	 * reached these tasks.
	 */
	for (uint32_t i = 1; is_cut && i < campaign->worker_count && result == 0; i++)
		if (campaign->workers[i].part)
			result = look_into(campaign, campaign->workers[i].part, err);
	for (uint32_t i = 0; is_cut && i < campaign->parts.kept_count && result == 0; i++)
		result = look_into(campaign, campaign->parts.kept[i], err);
	compare_forget(campaign);
	if (!is_cut)
		parts_drop_all(campaign);
	return result;
}
