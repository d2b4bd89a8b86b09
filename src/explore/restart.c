/* Switches a campaign to another restart, or to runs that include forked children. */
#include "explore/services.h"

#include <stdio.h>
#include <sys/wait.h>

#include "explore/scheme.h"
#include "model/feature.h"
#include "plan/restart.h"

/* Maximum number of consecutive SIGKILLs by other processes that raddle treats as accidents. */
#define OUTSIDE_KILLS_MAX 3

static void restart_notice(const struct campaign *campaign, enum contract_restart from,
	enum contract_restart to, const char *reason)
{
	unsigned ratio = restart_descriptions[to].cost_ns / restart_descriptions[from].cost_ns;
	char cost[64] = "at about the same speed";

	if (ratio > 1)
		(void)snprintf(
			cost, sizeof cost, "about %u times slower on a small program", ratio);
	campaign_notice(campaign,
		"restart %s does not work for this program (%s); from now on %s: %s, %s",
		restart_descriptions[from].word, reason, restart_descriptions[to].word,
		restart_descriptions[to].sentence, cost);
}

int restart_fall_back(struct campaign *campaign, enum contract_restart restart, const char *reason,
	bool is_shared, struct error *err)
{
	enum contract_restart next = restart_next(restart, campaign->options->settings.executor);

	/* A fork at the first thread creation shares open pipes and files as well. */
	if (is_shared && next == RESTART_FORK_CREATE)
		next = restart_next(next, campaign->options->settings.executor);
	if (campaign->restart != restart)
		return 0; /* another worker has already switched the restart */
	if (campaign->options->is_restart_forced)
		return error_set(err, ERROR_TARGET,
			"restart %s does not work for this program: %s; leave --restart out, or use %s",
			restart_descriptions[restart].word, reason,
			restart_descriptions[next == RESTART_COUNT ? restart : next].word);
	if (next == RESTART_COUNT)
		return error_set(
			err, ERROR_TARGET, "raddle cannot run the program again: %s", reason);
	campaign->restart = next;
	restart_notice(campaign, restart, next, reason);
	return 0;
}

int restart_take_taint(
	struct campaign *campaign, const struct campaign_worker *worker, struct error *err)
{
	const struct contract *contract = worker->worker.contract;
	/* Forked children write to files that their parent has opened, such as Check's results. */
	const bool is_shared =
		contract->taint == TAINT_SHARED || campaign->program.settings.has_forked_children;

	return restart_fall_back(campaign, (enum contract_restart)contract->plan.restart,
		contract->taint_text, is_shared, err);
}

int restart_worker_died(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct contract *contract = worker->worker.contract;
	enum contract_restart restart = (enum contract_restart)contract->plan.restart;
	int status = worker->worker.exit_status;
	char reason[128];

	if (worker->worker.was_killed_outside && campaign->options->forwards_signals) {
		/* raddle ran instead of the program, so the user's SIGKILL of the program ends
		 * raddle, too. */
		campaign->is_stopping = campaign->result->is_interrupted = true;
		return error_set(err, ERROR_TARGET,
			"SIGKILL ended the program; does the program send it, is memory short, or is a limit set?");
	}
	if (worker->worker.was_killed_outside) {
		if (++worker->deaths > OUTSIDE_KILLS_MAX)
			return error_set(err, ERROR_TARGET,
				"SIGKILL ended the program %u times; does the program send it, is memory short, or is a limit set?",
				worker->deaths);
		campaign_notice(campaign, "SIGKILL ended the program; the campaign continues");
		return 0;
	}
	if (WIFSIGNALED(status))
		(void)snprintf(reason, sizeof reason, "the server of runs was ended by signal %d",
			WTERMSIG(status));
	else
		(void)snprintf(reason, sizeof reason, "the server of runs ended with status %d",
			WEXITSTATUS(status));
	return restart_fall_back(campaign, restart, reason, false, err);
}

/* Strategies with rounds only: any other strategy would explore each seed of each child and still
 * miss schedules. */
bool restart_must_include_children(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	return worker->worker.contract->features & FEATURE_CHILD_THREADS &&
	       !campaign->has_started && campaign->scheme->has_independent_runs &&
	       campaign->runs.end > campaign->row.run_first + 1 &&
	       !campaign->program.settings.has_forked_children &&
	       !campaign->options->without_forked_children;
}

int restart_reopen(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	struct worker before = worker->worker;
	const int result = campaign_open_worker(campaign, worker, err);

	if (result < 0) {
		worker->worker = before;
		return result;
	}
	worker_close(&before);
	worker->has_memory = worker->is_busy = false;
	return 0;
}

int restart_include_children(
	struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	int result;

	campaign->program.settings.has_forked_children = true;
	campaign->result->has_forked_children = true;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		campaign->workers[i].worker.contract->plan.has_forked_children = true;
	result = restart_reopen(campaign, worker, err);
	if (result < 0)
		return result;
	campaign_notice(campaign,
		"a forked child creates threads; from now on runs begin at the first fork, and each child follows its own schedule; --no-forked-children prevents this");
	return 0;
}
