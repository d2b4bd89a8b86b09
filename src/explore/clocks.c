/*
 * Failures that only virtual time causes: a computation takes almost no virtual time, and file times
 * do not agree with the virtual clock (docs/limits.md).
 *
 * Each of a program's schedules then fails. Therefore, if the first run of a campaign ends in a
 * verdict of the program about itself and has used time, and the program's default order fails, too,
 * the run is made once more with the real clocks. If it passes, the campaign keeps the real clocks,
 * and the failure does not count. Otherwise the first run is made again with virtual time. Its
 * failure then counts, because time is not its reason.
 *
 * If the default order passes, the failure depends on the schedule, like that of a later run. Its schedule is therefore repeated with the real
 * clocks: if the run follows that schedule to its end and does not fail in this way, and a run with
 * virtual time does, only the clocks make the difference. The campaign then makes this run again, and
 * all later ones, with the real clocks.
 */
#include "explore/services.h"

#include "explore/scheme.h"
#include "model/feature.h"
#include "platform/platform.h"

/* Limit of the run with real clocks, whose sleeps take their time. A time budget of less gives it
 * one half. */
#define CLOCKS_TRIAL_NS UINT64_C(10000000000)

/* Crashes, deadlocks and races are failures whatever the clock shows. */
static bool clocks_is_verdict(enum outcome_kind kind)
{
	return kind == OUTCOME_EXIT || kind == OUTCOME_ABORT || kind == OUTCOME_CHECK_FAILED;
}

/* Returns whether a run may have used time. A program that a child executes runs natively, so nobody knows what
 * it asks the clock. */
static bool clocks_were_used(const struct campaign *campaign)
{
	uint32_t features = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		features |= campaign->workers[i].worker.contract->features;
	return features & (FEATURE_TIME | FEATURE_CLOCK | FEATURE_CHILD_PROGRAM);
}

/* A run instead of the program has shown its output and used its input. Exhaustive strategies need
 * runs that repeat, which real clocks do not give to threads. */
static bool clocks_may_be_tried(
	const struct campaign *campaign, const struct campaign_worker *worker)
{
	const struct campaign_options *options = campaign->options;

	return options->tries_real_clocks && !campaign->program.settings.without_virtual_time &&
	       clocks_were_used(campaign) && !options->forwards_signals && !options->show_output &&
	       !worker->worker.contract->stalls.count &&
	       (!worker->worker.contract->is_live || campaign->scheme->has_independent_runs);
}

/* Makes the worker's batch again, in a new process. */
static int clocks_repeat(struct campaign *campaign, struct campaign_worker *worker,
	bool without_virtual_time, struct error *err)
{
	int result;

	campaign->program.settings.without_virtual_time = without_virtual_time;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		campaign->workers[i].worker.contract->plan.without_virtual_time =
			without_virtual_time;
	result = restart_reopen(campaign, worker, err);
	if (result < 0)
		return result;
	worker->has_groups = false;
	result = loop_give(campaign, worker, err);
	return result < 0 ? result : 1;
}

/* Returns the time of the trial. Like an investigation it does not use up the time budget. */
static uint64_t clocks_trial_ns(const struct campaign *campaign)
{
	const uint64_t time_ns = campaign->options->time_ns;

	return time_ns && time_ns < CLOCKS_TRIAL_NS ? time_ns / 2 : CLOCKS_TRIAL_NS;
}

/* Runs the program in its default order, with virtual time. */
static int clocks_run_default_order(
	const struct campaign *campaign, bool *has_passed, struct error *err)
{
	const struct probe_plan plan = {.mode = REPLAY_EXACT};
	struct probe_params params = {
		.worker = campaign->workers[0].worker.params,
		.settings = &campaign->program.settings,
		.restart = RESTART_EXEC,
		.run_limit_ns = clocks_trial_ns(campaign),
		.is_interrupted = campaign->options->is_interrupted,
	};
	struct probe probe;
	int result;

	params.worker.output = OUTPUT_KEEP;
	params.worker.reads_ours = false;
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	*has_passed = result == 0 && !probe.is_failure &&
		      probe.worker.contract->outcome.kind == OUTCOME_PASSED;
	probe_close(&probe);
	return result;
}

static int clocks_try(struct campaign *campaign, struct campaign_worker *worker, struct error *err)
{
	campaign->clocks.state = CLOCKS_ON_TRIAL;
	campaign->clocks.begun_ns = platform_monotonic_ns();
	if (campaign->options->time_ns)
		campaign->times.deadline_ns += clocks_trial_ns(campaign);
	campaign->clocks.kind = (enum outcome_kind)worker->worker.contract->outcome.kind;
	return clocks_repeat(campaign, worker, true, err);
}

static int clocks_decide(struct campaign *campaign, struct campaign_worker *worker, bool has_failed,
	struct error *err)
{
	const uint64_t taken_ns = platform_monotonic_ns() - campaign->clocks.begun_ns;

	campaign->clocks.state = CLOCKS_DECIDED;
	if (campaign->options->time_ns && taken_ns < clocks_trial_ns(campaign))
		campaign->times.deadline_ns -= clocks_trial_ns(campaign) - taken_ns;
	if (has_failed)
		return clocks_repeat(campaign, worker, false, err);
	campaign->result->has_real_clocks = true;
	campaign_warn(campaign,
		"the first run fails with virtual time (%s) and passes with the real clocks, so all runs have these, and sleeps take their time",
		outcome_descriptions[campaign->clocks.kind].word);
	return 0;
}

/* A failure with stalls is reported as one that depends on time. That of the first run has already been
 * tried with the real clocks, unless it depends on the schedule. */
static bool clocks_may_be_doubted(
	const struct campaign *campaign, const struct campaign_failure *caught)
{
	const struct failure *failure = &caught->failure;

	return campaign->options->tries_real_clocks &&
	       !campaign->program.settings.without_virtual_time && !campaign->options->remote &&
	       clocks_were_used(campaign) && campaign->scheme->has_independent_runs &&
	       campaign->has_started &&
	       clocks_is_verdict((enum outcome_kind)failure->outcome.kind) &&
	       !failure->stall_count && !failure->is_truncated &&
	       (failure->run_number != campaign->row.run_first ||
		       campaign->clocks.has_default_order_passed);
}

enum clocks_ending { ENDED_SO, ENDED_OTHERWISE, ENDED_ELSEWHERE };

/* How the run of the failure's schedule ended. ENDED_ELSEWHERE: it could not follow the schedule, or ended
 * in no verdict. */
static enum clocks_ending clocks_ending_of(const struct probe *probe, const struct failure *failure)
{
	const struct outcome *outcome = &probe->worker.contract->outcome;
	const bool is_verdict = clocks_is_verdict((enum outcome_kind)outcome->kind);

	if (probe->has_diverged || (!is_verdict && outcome->kind != OUTCOME_PASSED))
		return ENDED_ELSEWHERE;
	return outcome->kind == failure->outcome.kind && outcome->code == failure->outcome.code
		       ? ENDED_SO
		       : ENDED_OTHERWISE;
}

static int clocks_repeat_schedule(const struct campaign *campaign, const struct failure *failure,
	const struct probe_params *like, bool without_virtual_time, enum clocks_ending *ending,
	struct error *err)
{
	const struct probe_plan plan = probe_plan_exact(failure);
	struct settings settings = *like->settings;
	struct probe_params params = *like;
	struct probe probe;
	int result;

	settings.without_virtual_time = without_virtual_time;
	params.settings = &settings;
	params.restart = RESTART_EXEC;
	params.run_limit_ns = clocks_trial_ns(campaign);
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	if (result == 0)
		*ending = clocks_ending_of(&probe, failure);
	probe_close(&probe);
	return result;
}

int clocks_doubt_failure(struct campaign *campaign, const struct campaign_failure *caught,
	const struct probe_params *like, bool *is_doubted, struct error *err)
{
	enum clocks_ending ending = ENDED_ELSEWHERE;
	int result;

	*is_doubted = false;
	if (!clocks_may_be_doubted(campaign, caught))
		return 0;
	result = clocks_repeat_schedule(campaign, &caught->failure, like, true, &ending, err);
	if (result < 0 || ending != ENDED_OTHERWISE)
		return result;
	/* Does the failure repeat at all? */
	result = clocks_repeat_schedule(campaign, &caught->failure, like, false, &ending, err);
	if (result < 0 || ending != ENDED_SO)
		return result;
	*is_doubted = true;
	campaign->program.settings.without_virtual_time = true;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		campaign->workers[i].worker.contract->plan.without_virtual_time = true;
	campaign->exclusive.must_repeat = true;
	campaign->result->has_real_clocks = true;
	campaign_warn(campaign,
		"a run fails with virtual time only (%s): its schedule does not fail so with the real clocks. All further runs have these, and sleeps take their time",
		outcome_descriptions[caught->failure.outcome.kind].word);
	return 0;
}

int clocks_take_report(struct campaign *campaign, struct campaign_worker *worker,
	enum contract_report report, struct error *err)
{
	const struct outcome *outcome = &worker->worker.contract->outcome;
	const bool has_failed = worker_is_failure(&worker->worker);
	int result = 0;

	/* No run has ended: it is made again. */
	if (campaign->clocks.state == CLOCKS_DECIDED || worker != campaign->workers ||
		report == REPORT_DIED || outcome->kind == OUTCOME_TAINTED)
		return 0;
	if (campaign->clocks.state == CLOCKS_ON_TRIAL)
		return clocks_decide(campaign, worker, has_failed, err);
	campaign->clocks.state = CLOCKS_DECIDED;
	if (!has_failed || !clocks_is_verdict((enum outcome_kind)outcome->kind) ||
		!clocks_may_be_tried(campaign, worker))
		return 0;
	if (worker->worker.contract->is_live)
		result = clocks_run_default_order(
			campaign, &campaign->clocks.has_default_order_passed, err);
	if (result < 0 || campaign->clocks.has_default_order_passed)
		return result;
	return clocks_try(campaign, worker, err);
}

int clocks_end_trial(struct campaign *campaign, struct error *err)
{
	int result;

	if (campaign->clocks.state != CLOCKS_ON_TRIAL ||
		platform_monotonic_ns() < campaign->clocks.begun_ns + clocks_trial_ns(campaign))
		return 0;
	worker_kill(&campaign->workers->worker);
	result = clocks_decide(campaign, campaign->workers, true, err);
	return result < 0 ? result : 0;
}
