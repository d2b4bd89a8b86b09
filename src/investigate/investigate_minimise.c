/* Minimises a failure, and confirms the minimised one, within the time of the investigation. */
#include "investigate/investigate_internal.h"
#include "investigate/minimise/fewer_preemptions.h"
#include "investigate/minimise/sampled_preemptions.h"
#include "investigate/minimise/tries.h"
#include "investigate/passing.h"

#include <string.h>

/* Slow runs justify more than three seconds: a simpler run helps minimising. */
#define DEPTH_BUDGET                                                                               \
	((struct budget){.runs = 1000,                                                             \
		.time_ns = UINT64_C(3000000000),                                                   \
		.slow_runs = 100,                                                                  \
		.slow_time_ns = UINT64_C(20000000000)})

/* A candidate that takes this many times as long as a replay may compute for ever. */
#define CANDIDATE_REPLAYS_MOST 8
#define CANDIDATE_LEAST_NS UINT64_C(250000000)

/* A traced run, which reads symbols, takes about as long as this many replays. */
#define TRACE_REPLAYS 12
/* Minimising leaves time for the replays, the trace and the passing runs, and for its last candidate; this time is
 * counted in replays, and is at most half of the rest. */
#define REPLAYS_BEHIND                                                                             \
	(CONFIRM_REPLAYS + (1 + PASSING_RUNS) * TRACE_REPLAYS + CANDIDATE_REPLAYS_MOST)

/* Returns the time until the deadline less `but_runs` replays; 0: no deadline, 1: no time is left. */
static uint64_t investigate_time_left(const struct investigation *investigation, uint32_t but_runs)
{
	const uint64_t from_ns = platform_monotonic_ns() + but_runs * investigation->replay_ns;

	if (!investigation->until_ns)
		return 0;
	return from_ns < investigation->until_ns ? investigation->until_ns - from_ns : 1;
}

bool investigate_has_time_for(const struct investigation *investigation, uint32_t runs)
{
	return investigate_time_left(investigation, runs) != 1;
}

static void investigate_minimise_limit_budget(struct budget *budget, uint64_t limit_ns)
{
	if (!limit_ns)
		return;
	if (limit_ns < budget->time_ns)
		budget->time_ns = limit_ns;
	if (limit_ns < budget->slow_time_ns)
		budget->slow_time_ns = limit_ns;
}

/* The searches of one minimising share its time. */
static void investigate_minimise_limit(
	const struct investigation *investigation, struct budget *budget)
{
	const uint64_t until_ns = investigation->minimise_until_ns;
	const uint64_t now_ns = platform_monotonic_ns();

	if (until_ns)
		investigate_minimise_limit_budget(
			budget, now_ns < until_ns ? until_ns - now_ns : 1);
}

/* Shortens the time that is left for minimising to `limit_ns` from now. */
static void investigate_minimise_end_within(struct investigation *investigation, uint64_t limit_ns)
{
	const uint64_t until_ns = platform_monotonic_ns() + limit_ns;

	if (!investigation->minimise_until_ns || until_ns < investigation->minimise_until_ns)
		investigation->minimise_until_ns = until_ns;
}

/* Sets the deadline of one minimising, and returns the one that follows from that of the investigation. */
static uint64_t investigate_minimise_begin(struct investigation *investigation)
{
	const uint64_t left_ns = investigate_time_left(investigation, 0);
	const uint64_t behind_ns = REPLAYS_BEHIND * investigation->replay_ns;
	const uint64_t own_ns = behind_ns < left_ns / 2 ? left_ns - behind_ns : left_ns / 2;

	investigation->minimise_until_ns = 0;
	if (left_ns)
		investigate_minimise_end_within(investigation, own_ns);
	if (investigation->minimise_ns)
		investigate_minimise_end_within(investigation, investigation->minimise_ns);
	return left_ns ? platform_monotonic_ns() + own_ns : UINT64_MAX;
}

/* The probes of minimising, which follow each other, share one process. */
static struct probe_params investigate_minimise_probe(struct investigation *investigation)
{
	struct probe_params params = investigation->probe;

	params.worker.output = OUTPUT_DISCARD;
	params.idle = &investigation->idle;
	return params;
}

/*
 * Few priority changes are a better start for minimising than many preemptions. Runs of hangs and
 * livelocks need the full limit.
 */
static int investigate_minimise_measure_depth(
	struct investigation *investigation, struct failure *failure, struct error *err)
{
	struct depth_params params = {
		.probe = investigate_minimise_probe(investigation),
		.budget = DEPTH_BUDGET,
	};

	/* Priorities alone cannot express a stall. */
	if (!investigation->measures_depth || failure->stall_count ||
		failure->outcome.kind == OUTCOME_HANG || failure->outcome.kind == OUTCOME_LIVELOCK)
		return 0;
	investigate_minimise_limit(investigation, &params.budget);
	return depth_measure(&investigation->depth, failure, &params, err);
}

/* A schedule with fewer preemptions is simpler, even if its run is longer, up to this factor. */
#define LONGER_MOST 2

/* Minimises again a failure that a search has replaced. */
static int investigate_minimise_again(struct investigation *investigation,
	struct minimise_params *params, struct failure *failure, struct error *err)
{
	params->budget = MINIMISE_BUDGET;
	investigate_minimise_limit(investigation, &params->budget);
	return minimise(failure, params, &investigation->incomplete, err);
}

/* In a long run a sampled schedule saves the minimiser much work; afterwards it only improves on it. */
#define SAMPLE_BUDGET(limit_ns)                                                                    \
	((struct budget){.runs = 3000,                                                             \
		.time_ns = (limit_ns),                                                             \
		.slow_runs = 60,                                                                   \
		.slow_time_ns = 4 * (limit_ns)})
#define SAMPLE_FIRST_NS UINT64_C(3000000000)
#define SAMPLE_AGAIN_NS UINT64_C(1000000000)

static int investigate_minimise_sample(struct investigation *investigation,
	struct minimise_params *params, struct fewer_preemptions *search, struct failure *failure,
	struct error *err)
{
	int result;

	/* One worker, as its time limits the search: the result must not depend on their number. */
	search->budget = SAMPLE_BUDGET(SAMPLE_AGAIN_NS);
	investigate_minimise_limit(investigation, &search->budget);
	result = sampled_preemptions_search(search, 1, failure, err);
	if (result == 0 && search->is_found)
		result = investigate_minimise_again(investigation, params, failure, err);
	return result;
}

/* The exhaustive search can try all schedules with one preemption in most programs, but rarely those
 * with more. */
static bool investigate_minimise_is_complex(const struct failure *failure)
{
	return failure->preemptions > 2 || fewer_preemptions_has_many_switches(failure);
}

static int investigate_minimise_exhaust(struct investigation *investigation,
	struct minimise_params *params, struct fewer_preemptions *search, struct failure *failure,
	struct error *err)
{
	int result;

	search->budget = FEWER_PREEMPTIONS_BUDGET;
	investigate_minimise_limit(investigation, &search->budget);
	result = fewer_preemptions_search(search, failure, err);
	if (result == 0 && search->is_found)
		result = investigate_minimise_again(investigation, params, failure, err);
	else if (search->is_cut_off && !investigation->incomplete)
		investigation->incomplete =
			"the search for fewer preemptions reached its limit of runs or time";
	return result;
}

/*
 * A simpler schedule replaces the minimised one and is minimised in turn. Sampling comes first where the
 * exhaustive search has little chance, and otherwise if that search was cut off.
 */
static int investigate_minimise_with_fewer(struct investigation *investigation,
	struct minimise_params *params, uint64_t steps_most, struct failure *failure,
	struct error *err)
{
	struct fewer_preemptions search = {.probe = params->probe, .steps_most = steps_most};
	const bool samples_first = investigate_minimise_is_complex(failure);
	int result = 0;

	if (investigation->replay_ns > FEWER_PREEMPTIONS_REPLAY_NS) {
		if (failure->preemptions && !investigation->incomplete)
			investigation->incomplete =
				"fewer preemptions are not searched where a run takes this long";
		return 0;
	}
	search.is_found = samples_first;
	while (result == 0 && search.is_found && investigate_minimise_is_complex(failure))
		result = investigate_minimise_sample(investigation, params, &search, failure, err);
	if (result == 0)
		result = investigate_minimise_exhaust(investigation, params, &search, failure, err);
	if (result == 0 && !samples_first && search.is_cut_off)
		result = investigate_minimise_sample(investigation, params, &search, failure, err);
	return result;
}

/* Minimises with up to `workers` probes side by side. */
static int investigate_minimise_with(struct investigation *investigation, uint32_t workers,
	struct failure *failure, struct error *err)
{
	struct minimise_params params = {
		.probe = investigate_minimise_probe(investigation),
		.budget = MINIMISE_BUDGET,
		.progress = investigation->minimising,
		.context = investigation->context,
	};
	const uint64_t steps_most = LONGER_MOST * failure->step_count;
	struct tries tries;
	int result;

	investigate_minimise_limit(investigation, &params.budget);
	tries_init(&tries, &params.probe, workers);
	if (workers > 1)
		params.ahead = &tries.ahead;
	result = minimise(failure, &params, &investigation->incomplete, err);
	/* A schedule that is still long has the most preemptions to lose. */
	if (result == 0 && !failure->is_truncated)
		result = investigate_minimise_with_fewer(
			investigation, &params, steps_most, failure, err);
	tries_release(&tries);
	return result;
}

/* In a run of that many steps, a sampled schedule takes the place of one with several preemptions: there is
 * too much to remove, and fewer_preemptions.h cannot try all. */
#define SAMPLED_STEPS 10000
/* Half of the time for simpler samples, the rest for minimising: such a schedule has little left to remove. */
#define SAMPLED_NS UINT64_C(3000000000)
#define SAMPLED_RUNS 3000

/* Finds a simpler start for minimising, where there may be one. */
static int investigate_minimise_start(struct investigation *investigation, uint32_t workers,
	struct failure *failure, struct error *err)
{
	struct fewer_preemptions search = {.probe = investigate_minimise_probe(investigation),
		.budget = SAMPLE_BUDGET(SAMPLE_FIRST_NS),
		.steps_most = LONGER_MOST * failure->step_count};
	bool has_sampled = false;
	int result = 0;

	/* A run with one preemption by site has two, if the preempted thread continues by a preemption. */
	while (failure->step_count >= SAMPLED_STEPS &&
		failure->preemptions > (has_sampled ? 2u : 1u) && result == 0) {
		investigate_minimise_limit(investigation, &search.budget);
		result = sampled_preemptions_search(&search, workers, failure, err);
		if (!search.is_found)
			break;
		if (!has_sampled)
			investigate_minimise_end_within(investigation, 2 * SAMPLED_NS);
		search.budget = (struct budget){.runs = SAMPLED_RUNS, .time_ns = SAMPLED_NS};
		has_sampled = true;
	}
	if (!has_sampled && result == 0)
		result = investigate_minimise_measure_depth(investigation, failure, err);
	return result;
}

static bool investigate_minimise_is_same(const struct failure *one, const struct failure *other)
{
	return one->segment_count == other->segment_count &&
	       memcmp(one->segments, other->segments, one->segment_count * sizeof *one->segments) ==
		       0;
}

uint64_t investigate_run_limit(const struct investigation *investigation, uint64_t least_ns)
{
	const uint64_t most_ns = CANDIDATE_REPLAYS_MOST * investigation->replay_ns;
	const uint64_t limit_ns = most_ns > least_ns ? most_ns : least_ns;
	const uint64_t given_ns = investigation->probe.run_limit_ns;

	return given_ns && given_ns < limit_ns ? given_ns : limit_ns;
}

/*
 * An endless loop is a failure when the run reaches its limit of steps. Minimising repeats the run many times, with a
 * lower limit: a tenth of the given one, plus twice the number of steps before the loop. A candidate whose loop begins
 * later than that reaches the lower limit without a failure (engine/progress.c).
 */
#define LOOP_PART 10
#define LOOP_STARTS 2

/* Returns false if the failing run did not end at the limit. */
static bool investigate_minimise_shorten_loop(const struct investigation *investigation,
	const struct failure *failure, struct settings *shorter)
{
	const struct settings *settings = investigation->probe.settings;
	const uint64_t limit =
		settings->step_limit / LOOP_PART +
		LOOP_STARTS * failure_loop_start(failure->segments, failure->segment_count);

	if (failure->outcome.kind != OUTCOME_LIVELOCK ||
		failure->step_count < settings->step_limit || limit >= settings->step_limit)
		return false;
	*shorter = *settings;
	shorter->step_limit = limit;
	return true;
}

/* Repeats the shortened run up to the limit of steps: it becomes `failure` if it still shows the failure. */
static int investigate_minimise_make_whole(
	struct investigation *investigation, struct failure *failure, struct error *err)
{
	const struct probe_plan plan = probe_plan_exact(failure);
	struct probe_params params = investigate_minimise_probe(investigation);
	struct probe probe;
	int result = probe_open(&probe, &params, err);

	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	if (result == 0 && probe_shows(&probe, failure))
		failure_take(failure, probe.worker.contract);
	probe_close(&probe);
	probe_idle_close(&investigation->idle);
	return result;
}

/* The minimised run becomes `failure`, unless it is the same. */
static int investigate_minimise(struct investigation *investigation, uint32_t workers,
	struct failure *failure, struct error *err)
{
	const struct settings *settings = investigation->probe.settings;
	const uint64_t steps = failure->step_count, replay_ns = investigation->replay_ns;
	struct settings shorter;
	bool is_shorter;
	int result;

	if (investigate_minimise_shorten_loop(investigation, failure, &shorter)) {
		investigation->probe.settings = &shorter;
		investigation->replay_ns = replay_ns / (steps / shorter.step_limit);
	}
	result = investigate_minimise_start(investigation, workers, failure, err);
	if (result == 0)
		result = investigate_minimise_with(investigation, workers, failure, err);
	/* a simpler schedule has fewer priority changes to start from */
	if (result == 0)
		result = investigate_minimise_measure_depth(investigation, failure, err);
	/* From here on, no second process may disturb the runs. */
	probe_idle_close(&investigation->idle);
	is_shorter = investigation->probe.settings != settings;
	investigation->probe.settings = settings;
	investigation->replay_ns = replay_ns;
	if (result == 0 && is_shorter && failure->step_count != steps)
		result = investigate_minimise_make_whole(investigation, failure, err);
	return result;
}

int investigate_minimise_and_confirm(
	struct investigation *investigation, struct failure *failure, struct error *err)
{
	const uint64_t run_limit_ns = investigation->probe.run_limit_ns;
	struct confirmation confirmation;
	struct failure found = {0};
	uint32_t workers = investigation->workers;
	bool is_cut_off;
	int result;

	if (!investigate_has_time_for(
		    investigation, 4)) { /* the empty schedule, the replay of it, and the trace */
		investigation->left_out |= 1u << PART_MINIMISING;
		investigation->incomplete = "the time was up";
		return 0;
	}
	failure_copy(&found, failure);
	investigation->probe.run_limit_ns =
		investigate_run_limit(investigation, CANDIDATE_LEAST_NS);
	for (;; workers = 1) {
		const uint64_t until_ns = investigate_minimise_begin(investigation);

		result = investigate_minimise(investigation, workers, failure, err);
		is_cut_off = platform_monotonic_ns() >= until_ns;
		if (result == 0 && investigate_minimise_is_same(failure, &found))
			confirmation = investigation->confirmation;
		else if (result == 0)
			result = confirm(&confirmation, failure, &investigation->probe,
				investigation->until_ns, err);
		if (result != 0 || confirmation_is_repeatable(&confirmation) || workers <= 1)
			break;
		/* Concurrent processes may have disturbed each other: repeat with one probe. */
		failure_release(failure);
		failure_copy(failure, &found);
	}
	investigation->probe.run_limit_ns = run_limit_ns;
	if (investigation->incomplete && is_cut_off)
		investigation->left_out |= 1u << PART_MINIMISING;
	if (result == 0 && confirmation_is_repeatable(&confirmation)) {
		investigation->confirmation = confirmation;
	} else {
		investigation->incomplete = "the minimised schedule did not repeat the failure";
		failure_release(failure);
		*failure = found;
		found = (struct failure){0};
	}
	failure_release(&found);
	return result;
}
