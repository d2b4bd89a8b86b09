/*
 * From a failing run to a stored finding.
 *
 * campaign_catch_failure() copies the failure out of the worker's contract, and
 * campaign_look_into() investigates the copy when its run is counted. Before the first replay all
 * other processes of the target are stopped. A failure that does not repeat raises doubts: about
 * other processes (campaign_doubt_others) or about the restart (doubt_restart). Each failure key is
 * investigated once.
 */
#include "explore/campaign_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "base/strbuf.h"
#include "process/forward.h"
#include "investigate/investigate.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "platform/platform.h"

/*
 * Limit for one replay. A replay that diverged from its schedule may wait for the outside world
 * forever.
 */
#define REPLAY_LIMIT_NS UINT64_C(60000000000)

/*
 * Time for an investigation that begins near the end of --time: this constant plus this part of
 * --time. For the default minute that suffices for minimising; for a short campaign of slow runs,
 * for a replay and the trace.
 */
#define BEHIND_NS UINT64_C(4000000000)
#define BEHIND_PART 10

/* Further replays of a hang wait for this part of the hang time. */
#define REPLAY_HANG_PART 20

/* True once per key, which becomes known. */
static bool is_new_key(struct campaign *campaign, uint64_t key)
{
	for (uint32_t i = 0; i < campaign->key_count; i++)
		if (campaign->keys[i] == key)
			return false;
	campaign->keys =
		realloc(campaign->keys, (campaign->key_count + 1) * sizeof *campaign->keys);
	BUG_ON(!campaign->keys);
	campaign->keys[campaign->key_count++] = key;
	return true;
}

static bool is_known_key(const struct campaign *campaign, uint64_t key)
{
	for (uint32_t i = 0; i < campaign->key_count; i++)
		if (campaign->keys[i] == key)
			return true;
	return false;
}

static void finish_finding(const struct campaign *campaign, const struct campaign_failure *caught,
	struct finding *finding)
{
	finding->strategy = strdup(caught->strategy);
	BUG_ON(!finding->strategy);
	finding->seed = campaign->options->seed;
	finding->run_number = caught->failure.run_number + 1;
}

/*
 * Drops the trace of a finding when the store has reached its limit. The schedule suffices for a
 * replay.
 */
static void shorten_finding(struct campaign *campaign, struct finding *finding)
{
	const uint64_t limit = campaign->options->store_bytes;

	if (!limit || store_bytes(campaign->store) < limit)
		return;
	free(finding->trace);
	finding->trace = NULL;
	finding->trace_size = 0;
	if (campaign->has_told_limit)
		return;
	campaign->has_told_limit = true;
	campaign_notice(campaign,
		"the store has reached --store-limit: further findings are kept without their traces, "
		"which raddle replay --trace makes anew");
}

static void tell_left_out(struct campaign *campaign, const struct investigation *investigation,
	const struct finding *finding)
{
	static const char *const words[INVESTIGATION_PARTS] = {
		[PART_REPLAYS] = "further replays",
		[PART_MINIMISING] = "minimising it to the end",
		[PART_PASSING_RUN] = "a run that passes, to show beside it",
	};
	struct strbuf parts;

	if (!investigation->left_out)
		return;
	strbuf_init(&parts);
	for (unsigned part = 0; part < INVESTIGATION_PARTS; part++)
		if (investigation->left_out >> part & 1)
			strbuf_addf(&parts, "%s%s", parts.length ? "; " : "", words[part]);
	campaign_notice(campaign,
		"%s had no time (--time) for: %s. The same command with a longer one makes up for it",
		finding->id, parts.text);
	strbuf_release(&parts);
}

static int keep_finding(struct campaign *campaign, const struct investigation *investigation,
	struct finding *finding, struct error *err)
{
	struct campaign_found found = {
		.finding = finding,
		.confirmation = investigation->confirmation,
		.is_minimal = investigation->is_minimal,
	};
	int result;

	shorten_finding(campaign, finding);
	result = store_add_finding(campaign->store, campaign->row.id, finding, &found.is_new, err);
	if (result < 0)
		result = spare_keep(campaign, finding, &found.is_new, err);
	if (result < 0)
		return result;
	campaign->result->total.findings++;
	if (campaign->listener->found)
		campaign->listener->found(campaign->listener->context, &found);
	tell_left_out(campaign, investigation, finding);
	return 0;
}

/*
 * Number of local workers. They are idle while a failure is investigated, so minimising can use as
 * many processes.
 */
static uint32_t workers_here(const struct campaign *campaign)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		count += !campaign->workers[i].worker.params.remote;
	return campaign->is_alone || !count ? 1 : count;
}

static void describe_probe(const struct campaign *campaign, const struct campaign_failure *caught,
	struct investigation *investigation)
{
	const struct campaign_listener *listener = campaign->listener;

	*investigation = (struct investigation){
		.probe =
			{
				.worker = campaign->workers[0].worker.params,
				.settings = &campaign->settings,
				.memory = &caught->memory,
				.restart = campaign->restart,
				.run_limit_ns = REPLAY_LIMIT_NS,
				.is_interrupted = campaign->options->is_interrupted,
			},
		.without_minimising = campaign->options->without_minimising,
		.workers = workers_here(campaign),
		.measures_depth = strategies[campaign->options->strategy]->guarantee != NULL,
		.minimising = listener->minimising,
		.context = listener->context,
	};
	if (campaign->options->time_ns)
		investigation->until_ns = campaign->deadline_ns + BEHIND_NS +
					  campaign->options->time_ns / BEHIND_PART;
	investigation->probe.worker.output = OUTPUT_KEEP;
	investigation->probe.worker.reads_ours = false; /* the run has consumed standard input */
	/* For minimising and tracing. The first replay of confirm() uses the whole hang time. */
	if (caught->failure.outcome.kind == OUTCOME_HANG)
		investigation->probe.hang_ns = campaign->settings.hang_ns / REPLAY_HANG_PART + 1;
}

/*
 * A failure that does not repeat in a fresh process may be caused by the restart, so the campaign
 * switches to a more faithful one. With the last restart the program or the machine is
 * nondeterministic, and the campaign ends unless the user asked to keep going.
 */
static int doubt_restart(
	struct campaign *campaign, enum contract_restart restart, struct error *err)
{
	const struct campaign_options *options = campaign->options;

	if (options->is_restart_forced ||
		restart_next(restart, options->settings.executor) == RESTART_COUNT) {
		campaign->is_stopping |= !options->keep_going;
		return 0;
	}
	return campaign_fall_back(
		campaign, restart, "a failure did not repeat in a fresh process", false, err);
}

/* From now on this race ends no run, so that runs show what follows it. */
static void let_race_pass(struct campaign *campaign, const struct outcome *outcome)
{
	struct race_pair pair = {.site = outcome->site, .other = outcome->other_site};

	if (!races_ignore(&campaign->settings.races, pair)) {
		campaign_notice(campaign,
			"more than %u races are known; the campaign ends, mend some first",
			RACE_IGNORED_MAX);
		campaign->is_stopping = true;
		return;
	}
	if (campaign->has_rounds) { /* effective with the next round */
		struct campaign_round *round = campaign->round;

		round->passed =
			realloc(round->passed, (round->passed_count + 1) * sizeof *round->passed);
		BUG_ON(!round->passed);
		round->passed[round->passed_count++] = pair;
		return;
	}
	/* cannot fail: the guest's table has the capacity of the settings' table */
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		(void)races_tell(campaign->workers[i].worker.contract, pair);
}

/* Tests a race against the user's suppressions. All further runs ignore a match. */
static int check_suppressions(struct campaign *campaign, const struct investigation *investigation,
	const struct failure *failure, bool *is_suppressed, struct error *err)
{
	const struct suppressions *suppressions = campaign->options->suppressions;
	struct finding finding;
	int result;

	*is_suppressed = false;
	if (failure->outcome.kind != OUTCOME_RACE || !suppressions || !suppressions->count)
		return 0;
	result = investigate_glance(investigation, failure, &finding, err);
	if (result < 0)
		return result;
	*is_suppressed = suppressions_match(suppressions, &finding);
	finding_release(&finding);
	if (!*is_suppressed)
		return 0;
	campaign->result->races_suppressed++;
	campaign->suppressed = realloc(campaign->suppressed,
		(campaign->suppressed_count + 1) * sizeof *campaign->suppressed);
	BUG_ON(!campaign->suppressed);
	campaign->suppressed[campaign->suppressed_count++] = failure_key(&failure->outcome);
	campaign->suppressed_runs++;
	let_race_pass(campaign, &failure->outcome);
	return 0;
}

static int investigate_and_keep(struct campaign *campaign, const struct campaign_failure *caught,
	struct investigation *investigation, struct error *err)
{
	/* Minimising may replace the outcome by one at another place. */
	const struct outcome outcome = caught->failure.outcome;
	struct failure failure;
	struct finding finding;
	int result;

	if (campaign->listener->confirming)
		campaign->listener->confirming(campaign->listener->context, &caught->failure);
	memset(&finding, 0, sizeof finding);
	failure_copy(&failure, &caught->failure);
	result = investigate(investigation, &failure, &finding, err);
	if (result == 0 && campaign_doubt_others(campaign, &investigation->confirmation)) {
		campaign->key_count--; /* the failure may occur again */
		finding_release(&finding);
	} else if (result == 0) {
		finish_finding(campaign, caught, &finding);
		/*
		 * One source line may have several code places, and each pair of places is a
		 * failure of its own.
		 */
		if (outcome.kind != OUTCOME_RACE || is_new_key(campaign, finding.signature)) {
			result = keep_finding(campaign, investigation, &finding, err);
			campaign->result->races += outcome.kind == OUTCOME_RACE;
		}
		finding_release(&finding);
		if (result == 0 && outcome.kind == OUTCOME_RACE)
			let_race_pass(campaign, &outcome);
	}
	failure_release(&failure);
	return result;
}

bool campaign_was_ended(struct campaign *campaign, struct campaign_worker *worker)
{
	const struct outcome *outcome = &worker->worker.contract->outcome;
	struct contract_totals *totals = &worker->worker.contract->totals;

	if (!campaign->options->forwards_signals || !forward_has_ended(outcome))
		return false;
	totals->runs--;
	totals->failures -= worker_is_failure(&worker->worker);
	totals->outcome[outcome->kind]--;
	campaign->result->is_interrupted = true;
	campaign->is_stopping = true;
	return true;
}

bool campaign_catch_failure(
	struct campaign *campaign, const struct campaign_worker *from, struct campaign_failure *out)
{
	struct contract *contract = from->worker.contract;
	char strategy[256];

	*out = (struct campaign_failure){.key = failure_key(&contract->outcome),
		.restart = (enum contract_restart)contract->plan.restart};
	if (contract->is_elsewhere || campaign->options->ignored >> contract->outcome.kind & 1 ||
		is_known_key(campaign, out->key))
		return false;
	strategy_format_run(campaign->options->strategy, &campaign->options->strategy_config,
		contract_strategy(contract), strategy, sizeof strategy);
	out->strategy = strdup(strategy);
	BUG_ON(!out->strategy);
	failure_take(&out->failure, contract);
	memory_view_take(&out->memory, contract_memory(contract));
	return true;
}

void campaign_failure_release(struct campaign_failure *failure)
{
	free(failure->strategy);
	failure_release(&failure->failure);
	memory_view_release(&failure->memory);
	*failure = (struct campaign_failure){0};
}

int campaign_look_into(
	struct campaign *campaign, const struct campaign_failure *caught, struct error *err)
{
	struct investigation investigation;
	bool is_suppressed;
	uint64_t started_ns = platform_monotonic_ns();
	int result;

	/* The replays belong to raddle: signals are no longer passed on to the program. */
	forward_end();
	if (!is_new_key(campaign, caught->key))
		return 0;
	result = campaign_clear_way(campaign, err);
	if (result < 0)
		return result;
	campaign->settings.layout = caught->failure.layout;
	describe_probe(campaign, caught, &investigation);
	result =
		check_suppressions(campaign, &investigation, &caught->failure, &is_suppressed, err);
	if (result == 0 && !is_suppressed)
		result = investigate_and_keep(campaign, caught, &investigation, err);
	campaign->investigating_ns += platform_monotonic_ns() - started_ns;
	if (result < 0 || is_suppressed || campaign->is_disturbed)
		return result;
	if (!confirmation_is_repeatable(&investigation.confirmation))
		return doubt_restart(campaign, caught->restart, err);
	campaign->is_stopping |= !campaign->options->keep_going;
	return 0;
}
