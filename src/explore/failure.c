/*
 * Makes a stored finding from a failing run.
 *
 * failure_copy_from() copies the failure out of the worker's contract, and failure_investigate()
 * investigates the copy when its run is counted. Before the first replay all other processes of the
 * target are stopped. A failure that does not repeat may be caused by other processes
 * (exclusive_doubt_others) or by the restart (failure_doubt_restart). Each failure key is
 * investigated once.
 */
#include "explore/services.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "explore/scheme.h"
#include "process/forward.h"
#include "investigate/investigate.h"
#include "plan/restart.h"
#include "plan/strategy_option.h"
#include "platform/platform.h"

/* A replay that diverged from its schedule may wait for the outside world forever. */
#define REPLAY_LIMIT_NS UINT64_C(60000000000)

/*
 * An investigation ends with --time, but it has at least this constant plus this part of --time. This
 * suffices to minimise in the default minute, and to replay and trace a slow run.
 */
#define BEHIND_NS UINT64_C(4000000000)
#define BEHIND_PART 10

/* Further replays of a hang wait for this part of the hang time. */
#define REPLAY_HANG_PART 20
/* If a run that was reported as a hang proves to be a long computation, the time limit for a run without an operation
 * (--hang-time) is multiplied by this factor. */
#define HANG_FACTOR 4

bool failure_is_suppressed(const struct campaign *campaign, uint64_t key)
{
	for (uint32_t i = 0; i < campaign->known.suppressed_count; i++)
		if (campaign->known.suppressed[i] == key)
			return true;
	return false;
}

/* Drops the finding's trace beyond the store's limit. The schedule suffices for a replay. */
static void failure_shorten_finding(struct campaign *campaign, struct finding *finding)
{
	const uint64_t limit = campaign->options->store_bytes;

	if (!limit || store_bytes(campaign->store) < limit)
		return;
	free(finding->trace);
	finding->trace = NULL;
	finding->trace_size = 0;
	if (campaign->noticed.limit)
		return;
	campaign->noticed.limit = true;
	campaign_notice(campaign,
		"the store has reached --store-limit: further findings have no traces; raddle replay --trace records them again");
}

static void failure_notice_left_out(struct campaign *campaign,
	const struct investigation *investigation, const struct finding *finding)
{
	static const char *const words[INVESTIGATION_PARTS] = {
		[PART_REPLAYS] = "further replays",
		[PART_MINIMISING] = "complete minimising",
		[PART_PASSING_RUN] = "a passing run for comparison",
	};
	STRBUF_SCOPED parts = STRBUF_EMPTY;

	if (!investigation->left_out)
		return;
	for (unsigned task = 0; task < INVESTIGATION_PARTS; task++)
		if (investigation->left_out >> task & 1)
			strbuf_addf(&parts, "%s%s", parts.length ? "; " : "", words[task]);
	campaign_notice(campaign,
		"%s: the time (--time) was too short for: %s. Repeat the command with a longer time",
		finding->id, parts.text);
}

/* Begins the campaign's row in the fallback store. It has zero runs, because the main store has the
 * real counts. */
static int failure_fallback_begin_row(struct campaign *campaign, struct error *err)
{
	struct store_campaign row = campaign->row;
	int status;

	row.runs = row.failures = row.steps = 0;
	row.run_end = row.run_first;
	status = store_campaign_begin(campaign->fallback.store, &row, err);
	campaign->fallback.campaign = row.id;
	return status;
}

/* Stores a finding that the campaign's store refused. Returns a negative error if it could not be
 * stored here, either; `err` is unchanged. */
static int failure_fallback_keep(
	struct campaign *campaign, struct finding *finding, bool *is_new, struct error *err)
{
	struct error here;
	int status;

	/* The caller that owns the store receives the error instead. */
	if (campaign->options->store)
		return err->code;
	status = store_fallback_open(&campaign->fallback, &here);
	if (status == 0 && !campaign->fallback.campaign)
		status = failure_fallback_begin_row(campaign, &here);
	if (status == 0)
		status = store_add_finding(campaign->fallback.store, campaign->fallback.campaign,
			finding, is_new, &here);
	if (status < 0)
		return err->code; /* the first error is reported */
	campaign_notice(campaign, "a finding could not be stored (%s); it is in %s/.raddle",
		err->text, campaign->fallback.folder);
	return 0;
}

void fallback_notify(struct campaign *campaign)
{
	campaign_notice(campaign,
		"a finding could not be stored and is in %s/.raddle; free some space, and merge it from there with raddle merge",
		campaign->fallback.folder);
}

void failure_note_finding(
	struct campaign *campaign, uint64_t key, const struct finding *finding, const char id[32])
{
	struct known_failure *known = known_add(campaign, key);

	known->has_finding = true;
	known->signature = finding->signature;
	memcpy(known->finding, id, sizeof known->finding);
}

int failure_keep_finding(struct campaign *campaign, const struct investigation *investigation,
	uint64_t key, struct finding *finding, struct error *err)
{
	struct campaign_found found = {
		.finding = finding,
		.confirmation = investigation->confirmation,
	};
	int result;

	failure_shorten_finding(campaign, finding);
	result = store_add_finding(campaign->store, campaign->row.id, finding, &found.is_new, err);
	if (result < 0) {
		result = failure_fallback_keep(campaign, finding, &found.is_new, err);
		found.fallback = campaign->fallback.folder;
	}
	if (result < 0)
		return result;
	campaign->result->total.findings++;
	failure_note_finding(campaign, key, finding, found.fallback ? (char[32]){""} : finding->id);
	known_add(campaign, key)->times_stored = 1;
	if (campaign->listener->found)
		campaign->listener->found(campaign->listener->context, &found);
	failure_notice_left_out(campaign, investigation, finding);
	return 0;
}

/* Returns the number of processes for an investigation. Local workers are idle meanwhile:
 * minimising can use as many processes. */
static uint32_t failure_workers_here(const struct campaign *campaign)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < campaign->worker_count; i++)
		count += !campaign->workers[i].worker.params.remote;
	return campaign->exclusive.is_active || !count ? 1 : count;
}

/* A failure found early enough is investigated within --time. */
static uint64_t failure_deadline(const struct campaign *campaign)
{
	const uint64_t deadline_ns = campaign->times.deadline_ns, now_ns = platform_monotonic_ns();
	const uint64_t least_ns = (now_ns < deadline_ns ? now_ns : deadline_ns) + BEHIND_NS +
				  campaign->options->time_ns / BEHIND_PART;

	return least_ns > deadline_ns ? least_ns : deadline_ns;
}

static void failure_describe_probe(const struct campaign *campaign,
	const struct campaign_failure *caught, struct investigation *investigation)
{
	const struct campaign_listener *listener = campaign->listener;

	*investigation = (struct investigation){
		.probe =
			{
				.worker = campaign->workers[0].worker.params,
				.settings = &campaign->program.settings,
				.memory = &caught->memory,
				.restart = campaign->restart,
				.run_limit_ns = REPLAY_LIMIT_NS,
				.is_interrupted = campaign->options->is_interrupted,
			},
		.without_minimising = campaign->options->without_minimising,
		.workers = failure_workers_here(campaign),
		.measures_depth = strategies[campaign->options->strategy]->guarantee != NULL,
		.minimising = listener->minimising,
		.context = listener->context,
	};
	if (campaign->options->time_ns)
		investigation->until_ns = failure_deadline(campaign);
	investigation->probe.worker.output = OUTPUT_KEEP;
	investigation->probe.worker.reads_ours = false; /* the run has consumed standard input */
	/* The shorter limit is for minimising and tracing. The first replay of confirm() uses the
	 * whole hang time. */
	if (caught->failure.outcome.kind == OUTCOME_HANG)
		investigation->probe.hang_ns =
			campaign->program.settings.hang_ns / REPLAY_HANG_PART + 1;
}

/*
 * A failure that does not repeat in a fresh process may be caused by the restart: the campaign
 * switches to a more faithful one. If no more faithful restart is left, the program or the machine
 * is nondeterministic. The campaign then ends unless the user asked to keep going.
 */
static int failure_doubt_restart(
	struct campaign *campaign, enum contract_restart restart, struct error *err)
{
	const struct campaign_options *options = campaign->options;

	if (options->is_restart_forced ||
		restart_next(restart, options->settings.executor) == RESTART_COUNT) {
		campaign->is_stopping |= !options->keep_going;
		return 0;
	}
	return restart_fall_back(
		campaign, restart, "a failure did not repeat in a fresh process", false, err);
}

/* Makes all further runs ignore this race, so that they show behaviour after the race. */
static void failure_ignore_race(struct campaign *campaign, const struct outcome *outcome)
{
	struct race_pair pair = {.site = outcome->site, .other = outcome->other_site};

	if (!races_ignore(&campaign->program.settings.races, pair)) {
		campaign_notice(campaign,
			"more than %u races are known, so the campaign ends; repair some first",
			RACE_IGNORED_MAX);
		campaign->is_stopping = true;
		return;
	}
	campaign->scheme->ignore_race(campaign, pair);
}

/* Reads the suppressions that the program brings with it, once. */
static int failure_read_suppressions(struct campaign *campaign, struct error *err)
{
	const char *text = campaign->workers[0].worker.contract->default_suppressions;

	if (campaign->known.has_suppressions)
		return 0;
	campaign->known.has_suppressions = true;
	return suppressions_parse(&campaign->known.suppressions, text, strlen(text),
		"__tsan_default_suppressions()", err);
}

static int failure_match_suppressions(struct campaign *campaign,
	const struct investigation *investigation, const struct failure *failure,
	bool *is_suppressed, struct error *err)
{
	const struct suppressions *given = campaign->options->suppressions;
	const struct suppressions *own = &campaign->known.suppressions;
	struct finding finding;
	int result = failure_read_suppressions(campaign, err);

	if (result < 0 || (!own->count && (!given || !given->count)))
		return result;
	result = investigate_glance(investigation, failure, &finding, err);
	if (result < 0)
		return result;
	*is_suppressed =
		suppressions_match(own, &finding) || (given && suppressions_match(given, &finding));
	finding_release(&finding);
	return 0;
}

/* Sets *is_suppressed if the race does not count; all further runs then ignore the race. */
static int failure_check_suppressions(struct campaign *campaign,
	const struct investigation *investigation, const struct failure *failure,
	bool *is_suppressed, struct error *err)
{
	const struct outcome *outcome = &failure->outcome;
	const uint64_t *like = campaign->options->like;
	int result;

	*is_suppressed = false;
	if (!outcome_is_of_pair(outcome->kind))
		return 0;
	result = failure_match_suppressions(campaign, investigation, failure, is_suppressed, err);
	if (result < 0)
		return result;
	if (like && (outcome->site != like[0] || outcome->other_site != like[1]) &&
		(outcome->site != like[1] || outcome->other_site != like[0]))
		*is_suppressed = true;
	if (!*is_suppressed)
		return 0;
	campaign->result->races_suppressed++;
	ARRAY_APPEND(campaign->known.suppressed, campaign->known.suppressed_count,
		failure_key(&failure->outcome));
	campaign->known.suppressed_runs++;
	failure_ignore_race(campaign, &failure->outcome);
	return 0;
}

/*
 * A run that made no operation for the hang time may compute. If a replay of its schedule ends after a similar time,
 * the run is no failure: it and all later runs are made with a longer limit. A campaign does so once.
 */
static bool failure_is_computation(
	struct campaign *campaign, const struct confirmation *confirmation)
{
	uint64_t *const limit_ns = &campaign->program.settings.hang_ns;

	if (campaign->noticed.computation || !campaign->scheme->has_independent_runs ||
		confirmation_is_repeatable(confirmation) || confirmation->diverged ||
		confirmation->longest_ns < *limit_ns / 2 || signals_have_ended(campaign))
		return false;
	campaign->noticed.computation = true;
	campaign_notice(campaign,
		"a run made no operation for %.1f s and was taken for a hang, but its schedule ends in a replay, so it computes; all runs now have %.1f s (--hang-time)",
		(double)*limit_ns / 1e9, (double)*limit_ns * HANG_FACTOR / 1e9);
	*limit_ns *= HANG_FACTOR;
	for (uint32_t i = 0; i < campaign->worker_count; i++)
		campaign->workers[i].worker.params.hang_ns = *limit_ns;
	campaign->exclusive.must_repeat = true;
	return true;
}

/* Returns whether the campaign ignores this failure, and makes the run again, because a replay of it did not fail. */
static bool failure_must_repeat(struct campaign *campaign, const struct outcome *outcome,
	const struct confirmation *confirmation)
{
	return (outcome->kind == OUTCOME_HANG && failure_is_computation(campaign, confirmation)) ||
	       exclusive_doubt_others(campaign, confirmation);
}

static int failure_investigate_and_keep(struct campaign *campaign,
	const struct campaign_failure *caught, struct investigation *investigation,
	struct error *err)
{
	/* Minimising may replace the outcome by one at another location. */
	const struct outcome outcome = caught->failure.outcome;
	const struct known_failure *known;
	struct failure failure;
	struct finding finding = {0};
	bool is_doubted;
	int result;

	if (campaign->listener->confirming)
		campaign->listener->confirming(campaign->listener->context, &caught->failure);
	result = clocks_doubt_failure(campaign, caught, &investigation->probe, &is_doubted, err);
	if (result < 0 || is_doubted) {
		known_add(campaign, caught->key)->is_investigated = false;
		return result;
	}
	failure_copy(&failure, &caught->failure);
	result = investigate(investigation, &failure, &finding, err);
	if (result == 0 && outcome.kind == OUTCOME_WEAK)
		result = weak_failure_confirm(campaign, caught, investigation, &finding, err);
	if (result == 0 && failure_must_repeat(campaign, &outcome, &investigation->confirmation)) {
		/* If a later run fails in the same way, that failure is investigated, too. */
		known_add(campaign, caught->key)->is_investigated = false;
		finding_release(&finding);
	} else if (result == 0) {
		finding.strategy = string_copy(caught->strategy);
		finding.seed = campaign->options->seed;
		finding.run_number = caught->failure.run_number + 1;
		/* Several failures may be one finding. */
		known = known_find_signature(campaign, finding.signature);
		if (known) {
			failure_note_finding(campaign, caught->key, &finding, known->finding);
		} else {
			result = failure_keep_finding(
				campaign, investigation, caught->key, &finding, err);
			campaign->result->races += outcome.kind == OUTCOME_RACE;
		}
		finding_release(&finding);
		if (result == 0 && outcome_is_of_pair(outcome.kind))
			failure_ignore_race(campaign, &outcome);
	}
	failure_release(&failure);
	return result;
}

bool failure_copy_from(
	struct campaign *campaign, const struct campaign_worker *from, struct campaign_failure *out)
{
	struct contract *contract = from->worker.contract;
	char strategy[256];

	*out = (struct campaign_failure){.key = failure_run_key(&contract->outcome,
						 contract->stalls.count || contract->delayed.count),
		.restart = (enum contract_restart)contract->plan.restart};
	if (contract->is_elsewhere || campaign->options->ignored >> contract->outcome.kind & 1)
		return false;
	known_count_run(campaign, from, out->key);
	if (known_is_investigated(campaign, out->key))
		return false;
	strategy_format_run(campaign->options->strategy, &campaign->options->strategy_config,
		contract_strategy(contract), strategy, sizeof strategy);
	out->strategy = string_copy(strategy);
	failure_take(&out->failure, contract);
	memory_view_take(&out->memory, contract_memory(contract));
	return true;
}

void failure_discard(struct campaign_failure *failure)
{
	free(failure->strategy);
	failure_release(&failure->failure);
	memory_view_release(&failure->memory);
	*failure = (struct campaign_failure){0};
}

int failure_investigate(
	struct campaign *campaign, const struct campaign_failure *caught, struct error *err)
{
	struct investigation investigation;
	bool is_suppressed;
	uint64_t started_ns = platform_monotonic_ns();
	int result;

	/* The replays belong to raddle: signals are no longer passed on to the program. */
	forward_end();
	if (known_is_investigated(campaign, caught->key))
		return 0;
	known_add(campaign, caught->key)->is_investigated = true;
	result = exclusive_stop_others(campaign, err);
	if (result < 0)
		return result;
	campaign->program.settings.layout = caught->failure.layout;
	campaign->program.settings.interruption_points = caught->failure.interruption_points;
	failure_describe_probe(campaign, caught, &investigation);
	result = failure_check_suppressions(
		campaign, &investigation, &caught->failure, &is_suppressed, err);
	if (result == 0 && !is_suppressed)
		result = failure_investigate_and_keep(campaign, caught, &investigation, err);
	campaign->program.settings.interruption_points = INTERRUPTION_POINTS_IN_PART;
	campaign->times.investigating_ns += platform_monotonic_ns() - started_ns;
	if (result < 0 || is_suppressed || campaign->exclusive.must_repeat)
		return result;
	if (!confirmation_is_repeatable(&investigation.confirmation) &&
		!signals_have_ended(campaign))
		return failure_doubt_restart(campaign, caught->restart, err);
	campaign->is_stopping |= !campaign->options->keep_going;
	return 0;
}
