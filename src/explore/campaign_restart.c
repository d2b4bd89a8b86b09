/*
 * Switches a campaign to another restart, to a single worker, or to runs that include forked
 * children.
 */
#include <stdio.h>

#include "explore/campaign_internal.h"
#include "plan/restart.h"

static void notice_fall_back(const struct campaign *campaign, enum contract_restart from,
	enum contract_restart to, const char *reason)
{
	unsigned ratio = restart_descriptions[to].cost_ns / restart_descriptions[from].cost_ns;
	char cost[64] = "at about the same speed";

	if (ratio > 1)
		(void)snprintf(
			cost, sizeof cost, "about %u times slower on a small program", ratio);
	campaign_notice(campaign,
		"restart %s does not do for this program (%s); from now on %s: %s, %s",
		restart_descriptions[from].word, reason, restart_descriptions[to].word,
		restart_descriptions[to].sentence, cost);
}

int campaign_fall_back(struct campaign *campaign, enum contract_restart restart, const char *reason,
	bool is_shared, struct error *err)
{
	enum contract_restart next = restart_next(restart, campaign->options->settings.executor);

	/* Processes forked at the first thread creation share open pipes and files as well. */
	if (is_shared && next == RESTART_FORK_CREATE)
		next = restart_next(next, campaign->options->settings.executor);
	if (campaign->restart != restart)
		return 0; /* another worker has already switched the restart */
	if (campaign->options->is_restart_forced)
		return error_set(err, ERROR_TARGET,
			"restart %s cannot be used for this program: %s; leave --restart away, or "
			"use "
			"%s",
			restart_descriptions[restart].word, reason,
			restart_descriptions[next == RESTART_COUNT ? restart : next].word);
	if (next == RESTART_COUNT)
		return error_set(err, ERROR_TARGET, "the program cannot be run again: %s", reason);
	campaign->restart = next;
	notice_fall_back(campaign, restart, next, reason);
	return 0;
}

int campaign_go_on_alone(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	struct contract_totals *totals = &contract->totals;

	totals->runs--;
	totals->steps -= contract->outcome.step;
	totals->failures -= worker_is_failure(&worker->worker);
	totals->outcome[contract->outcome.kind]--;
	worker->is_busy = false;
	if (!campaign->is_alone)
		campaign_notice(campaign,
			"a second process of the program ended before its first thread while another one "
			"ran; from now on one worker, as by -j 1");
	campaign->is_alone = true;
	return campaign_end_others(campaign, err);
}

/*
 * Strategies without rounds are excluded: they would search each seed of each child and still miss
 * schedules. A campaign of one run has no run to repeat.
 */
bool campaign_must_include_children(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	return worker->worker.contract->met & MET_CHILD_THREADS && !campaign->has_started &&
	       campaign->has_rounds && campaign->run_end > campaign->row.run_first + 1 &&
	       !campaign->settings.has_forked_children &&
	       !campaign->options->without_forked_children;
}

int campaign_include_children(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct worker before = worker->worker;
	int result;

	campaign->settings.has_forked_children = true;
	campaign->result->has_forked_children = true;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		campaign->workers[i].worker.contract->plan.has_forked_children = true;
	result = campaign_open_worker(campaign, worker, err);
	if (result < 0) {
		worker->worker = before;
		return result;
	}
	worker_close(&before);
	worker->has_memory = worker->is_busy = false;
	campaign_notice(campaign,
		"a forked child makes threads; from now on runs begin at the first fork, and each child "
		"follows a schedule of its own; --no-forked-children leaves them out");
	return 0;
}
