#include "store/surroundings.h"
#include "base/array.h"
#include "base/strbuf.h"
#include "investigate/minimise/fewer_orders.h"
#include "investigate/minimise/fewer_preemptions.h"
#include "investigate/passing.h"
#include "investigate/program_output.h"
#include "investigate/investigate_internal.h"
#include "investigate/trace_window.h"
#include "investigate/minimise/tries.h"

#include <stdlib.h>
#include <string.h>

#include "findings/describe/build.h"
#include "findings/source_lines.h"
#include "symbols/symbols.h"

/* Slow runs justify more than three seconds: a simpler run helps minimising. */
#define DEPTH_BUDGET                                                                               \
	((struct budget){.runs = 1000,                                                             \
		.time_ns = UINT64_C(3000000000),                                                   \
		.slow_runs = 100,                                                                  \
		.slow_time_ns = UINT64_C(20000000000)})

static struct finding_source_thread *investigate_source_threads(
	struct contract *contract, uint32_t count)
{
	const struct contract_thread *threads = contract_threads(contract);
	struct finding_source_thread *out = array_new(count + 1, sizeof *out);
	for (uint32_t i = 0; i < count; i++)
		out[i] = (struct finding_source_thread){
			.parent = threads[i].parent,
			.ordinal = threads[i].ordinal,
			.create_site = threads[i].create_site,
			.start = threads[i].start,
			.stack_pointer = threads[i].stack_pointer,
			.thread_base = threads[i].thread_base,
			.label = threads[i].label,
		};
	return out;
}

#define STACK_ADDRESSES_MAX 64

/* Return addresses, innermost first. */
struct earlier_access {
	uint64_t addresses[STACK_ADDRESSES_MAX];
	uint32_t count; /* 0: unknown */
};

struct ingredients {
	struct probe *probe;
	const struct failure *run;
	/* NULL: investigate_trace_run() reads them from the process, for the caller to free */
	struct symbols *symbols;
	const struct earlier_access *earlier; /* NULL if unknown */
	uint32_t steps_most;		      /* 0: as many as a stored finding keeps */
};

static int investigate_build(
	struct finding *finding, const struct ingredients *ingredients, struct error *err)
{
	struct probe *probe = ingredients->probe;
	const struct failure *run = ingredients->run;
	struct worker *worker = &probe->worker;
	struct contract *contract = worker->contract;
	uint64_t capacity = contract->trace_bytes / sizeof(struct contract_event);
	uint64_t events = contract->trace_count;
	const struct contract_memory *memory = contract_memory(contract);
	struct finding_source_thread *threads =
		investigate_source_threads(contract, run->thread_count);
	struct finding_source source = {
		.outcome = &run->outcome,
		.threads = threads,
		.thread_count = run->thread_count,
		.events = contract_area(contract, contract->trace_offset),
		.event_count = events < capacity ? events : capacity,
		.events_dropped = events > capacity ? events - capacity : 0,
		.events_from = contract->plan.trace_from,
		.blocks = memory->blocks,
		.block_count = memory->block_count < MEMORY_BLOCKS_MAX ? memory->block_count
								       : MEMORY_BLOCKS_MAX,
		.layout = run->layout,
		.stalls = &contract->stalls,
		.delayed = &contract->delayed,
		.segments = run->segments,
		.segment_count = run->segment_count,
		.pid = probe->report == REPORT_INSPECT ? (pid_t)contract->guest_pid : 0,
		.program = worker->params.argv[0],
		.steps_most = ingredients->steps_most,
		.earlier_stack = ingredients->earlier ? ingredients->earlier->addresses : NULL,
		.earlier_count = ingredients->earlier ? ingredients->earlier->count : 0,
	};
	int result = finding_build(finding, &source, ingredients->symbols, err);

	free(threads);
	return result;
}

static int investigate_trace_run(struct ingredients *ingredients, const struct probe_plan *plan,
	struct finding *finding, struct error *err)
{
	struct probe *probe = ingredients->probe;
	struct contract *contract = probe->worker.contract;
	struct failure run = {0};
	int result;

	contract->plan.inspect = true;
	result = probe_run(probe, plan, err);
	if (result < 0)
		return result;
	failure_take(&run, contract);
	/* The finding shows addresses if the symbols cannot be read. */
	if (!ingredients->symbols && probe->report == REPORT_INSPECT)
		(void)symbols_from_process(&ingredients->symbols, (pid_t)contract->guest_pid, NULL);
	ingredients->run = &run;
	result = investigate_build(finding, ingredients, err);
	if (result == 0) {
		finding->output = program_output_end(&probe->worker.capture);
		finding_title_from_output(finding);
		finding_title_add_needs(finding);
		finding->switches = run.switches;
		finding->preemptions = run.preemptions;
	}
	failure_release(&run);
	return result;
}

int investigate_trace(struct probe *probe, const struct probe_plan *plan, uint32_t steps_most,
	struct finding *finding, struct error *err)
{
	struct ingredients ingredients = {.probe = probe, .steps_most = steps_most};
	const int result = investigate_trace_run(&ingredients, plan, finding, err);

	symbols_free(ingredients.symbols);
	return result;
}

int investigate_trace_known(struct probe *probe, const struct probe_plan *plan,
	struct symbols *symbols, struct finding *finding, struct error *err)
{
	struct ingredients ingredients = {.probe = probe, .symbols = symbols};
	const int result = investigate_trace_run(&ingredients, plan, finding, err);

	if (!symbols)
		symbols_free(ingredients.symbols);
	return result;
}

/* The failing run ends when the first access's stack no longer exists: another run stops at that
 * access. */
static void investigate_look_at_earlier_access(const struct probe_params *params,
	const struct failure *failure, struct earlier_access *out)
{
	const struct outcome *outcome = &failure->outcome;
	struct probe_plan plan = probe_plan_exact(failure);
	struct symbols *symbols = NULL;
	struct probe probe;
	struct contract *contract;

	out->count = 0;
	if (!outcome_has_accesses(outcome) || !outcome->other_site ||
		probe_open(&probe, params, NULL) < 0)
		return;
	contract = probe.worker.contract;
	contract->plan.inspect = true;
	contract->plan.inspect_step = outcome->other_step + 1;
	contract->plan.inspect_site = outcome->other_site;
	contract->plan.inspect_address = outcome->address;
	if (probe_run(&probe, &plan, NULL) == 0 && probe.report == REPORT_INSPECT &&
		contract->outcome.kind == OUTCOME_NONE &&
		outcome->other_thread.index < contract->thread_count &&
		symbols_from_process(&symbols, (pid_t)contract->guest_pid, NULL) == 0) {
		const struct contract_thread *thread =
			&contract_threads(contract)[outcome->other_thread.index];

		out->count =
			symbols_unwind(symbols, (pid_t)contract->guest_pid, thread->stack_pointer,
				thread->thread_base, out->addresses, STACK_ADDRESSES_MAX);
	}
	symbols_free(symbols);
	probe_close(&probe);
}

/* Runs that follow minimising: a replay, the trace, and the search for a passing run. */
#define RUNS_BEHIND (2 + PASSING_RUNS)

/* Time until the deadline less `but_runs` replays; 0: no deadline, 1: no time is left. */
static uint64_t investigate_time_left(const struct investigation *investigation, uint32_t but_runs)
{
	const uint64_t from_ns = platform_monotonic_ns() + but_runs * investigation->replay_ns;

	if (!investigation->until_ns)
		return 0;
	return from_ns < investigation->until_ns ? investigation->until_ns - from_ns : 1;
}

static bool investigate_has_time_for(const struct investigation *investigation, uint32_t runs)
{
	return investigate_time_left(investigation, runs) != 1;
}

static void investigate_limit_budget(struct budget *budget, uint64_t limit_ns)
{
	if (!limit_ns)
		return;
	if (limit_ns < budget->time_ns)
		budget->time_ns = limit_ns;
	if (limit_ns < budget->slow_time_ns)
		budget->slow_time_ns = limit_ns;
}

/*
 * Few priority changes are a better start for minimising than many preemptions. Runs of hangs and
 * livelocks need the full limit.
 */
static int investigate_measure_depth(
	struct investigation *investigation, struct failure *failure, struct error *err)
{
	struct depth_params params = {
		.probe = investigation->probe,
		.budget = DEPTH_BUDGET,
	};

	/* Priorities alone cannot express a stall. */
	if (!investigation->measures_depth || failure->stall_count ||
		failure->outcome.kind == OUTCOME_HANG || failure->outcome.kind == OUTCOME_LIVELOCK)
		return 0;
	params.probe.worker.output = OUTPUT_DISCARD;
	investigate_limit_budget(&params.budget, investigate_time_left(investigation, RUNS_BEHIND));
	return depth_measure(&investigation->depth, failure, &params, err);
}

/* The searches of one minimising, which began at `begun_ns`, share its time. */
static void investigate_limit_minimising(
	const struct investigation *investigation, uint64_t begun_ns, struct budget *budget)
{
	const uint64_t past_ns = platform_monotonic_ns() - begun_ns;

	if (investigation->minimise_ns)
		investigate_limit_budget(budget, past_ns < investigation->minimise_ns
							 ? investigation->minimise_ns - past_ns
							 : 1);
	investigate_limit_budget(budget, investigate_time_left(investigation, RUNS_BEHIND));
}

/* A schedule with fewer preemptions is simpler, even if its run is longer, up to this factor. */
#define LONGER_MOST 2

/* Minimises again a failure that a search has replaced. */
static int investigate_minimise_again(struct investigation *investigation, uint64_t begun_ns,
	struct minimise_params *params, struct failure *failure, struct error *err)
{
	params->budget = MINIMISE_BUDGET;
	investigate_limit_minimising(investigation, begun_ns, &params->budget);
	return minimise(failure, params, &investigation->incomplete, err);
}

/*
 * A schedule with fewer preemptions replaces the minimised one and is minimised in turn. The search
 * near the failing schedule is short. The exhaustive one may prove that no fewer suffice.
 */
static int investigate_minimise_with_fewer(struct investigation *investigation, uint64_t begun_ns,
	struct minimise_params *params, uint64_t steps_most, struct failure *failure,
	struct error *err)
{
	struct fewer_preemptions search = {.probe = params->probe,
		.budget = FEWER_PREEMPTIONS_BUDGET,
		.steps_most = steps_most};
	int result;

	if (investigation->replay_ns > FEWER_PREEMPTIONS_REPLAY_NS) {
		if (failure->preemptions && !investigation->incomplete)
			investigation->incomplete =
				"fewer preemptions are not searched where a run takes this long";
		return 0;
	}
	investigate_limit_minimising(investigation, begun_ns, &search.budget);
	result = fewer_orders_search(&search, failure, err);
	if (result == 0 && search.is_found)
		result = investigate_minimise_again(investigation, begun_ns, params, failure, err);
	if (result < 0)
		return result;
	search.budget = FEWER_PREEMPTIONS_BUDGET;
	investigate_limit_minimising(investigation, begun_ns, &search.budget);
	result = fewer_preemptions_search(&search, failure, err);
	if (result == 0 && search.is_found)
		result = investigate_minimise_again(investigation, begun_ns, params, failure, err);
	else if (search.is_cut_off && !investigation->incomplete)
		investigation->incomplete =
			"the search for fewer preemptions reached its limit of runs or time";
	return result;
}

/* Minimises with up to `workers` probes side by side. */
static int investigate_minimise_with(struct investigation *investigation, uint32_t workers,
	struct failure *failure, struct error *err)
{
	struct minimise_params params = {
		.probe = investigation->probe,
		.budget = MINIMISE_BUDGET,
		.progress = investigation->minimising,
		.context = investigation->context,
	};
	const uint64_t begun_ns = platform_monotonic_ns();
	const uint64_t steps_most = LONGER_MOST * failure->step_count;
	struct tries tries;
	int result;

	params.probe.worker.output = OUTPUT_DISCARD;
	investigate_limit_minimising(investigation, begun_ns, &params.budget);
	tries_init(&tries, &params.probe, workers);
	if (workers > 1)
		params.ahead = &tries.ahead;
	result = minimise(failure, &params, &investigation->incomplete, err);
	/* A schedule that is still long has the most preemptions to lose. */
	if (result == 0 && !failure->is_truncated)
		result = investigate_minimise_with_fewer(
			investigation, begun_ns, &params, steps_most, failure, err);
	tries_release(&tries);
	return result;
}

static bool investigate_is_same_schedule(const struct failure *one, const struct failure *other)
{
	return one->segment_count == other->segment_count &&
	       memcmp(one->segments, other->segments, one->segment_count * sizeof *one->segments) ==
		       0;
}

/* If the minimised schedule does not repeat, the one that was found is kept. */
static int investigate_minimise_and_confirm(
	struct investigation *investigation, struct failure *failure, struct error *err)
{
	struct confirmation confirmation;
	struct failure found = {0}, begun = {0};
	uint32_t workers = investigation->workers;
	int result;

	if (!investigate_has_time_for(
		    investigation, 4)) { /* the empty schedule, the replay of it, and the trace */
		investigation->left_out |= 1u << PART_MINIMISING;
		investigation->incomplete = "the time was up";
		return 0;
	}
	failure_copy(&found, failure);
	result = investigate_measure_depth(investigation, failure, err);
	failure_copy(&begun, failure);
	for (;; workers = 1) {
		if (result == 0)
			result = investigate_minimise_with(investigation, workers, failure, err);
		/* a simpler schedule has fewer priority changes to start from */
		if (result == 0)
			result = investigate_measure_depth(investigation, failure, err);
		if (result == 0 && investigate_is_same_schedule(failure, &found))
			confirmation = investigation->confirmation;
		else if (result == 0 || result == ERROR_INTERRUPTED)
			result = confirm(&confirmation, failure, &investigation->probe,
				investigation->until_ns, err);
		if (result != 0 || confirmation_is_repeatable(&confirmation) || workers <= 1)
			break;
		/* Concurrent processes may have disturbed each other: repeat with one probe. */
		failure_release(failure);
		failure_copy(failure, &begun);
	}
	failure_release(&begun);
	if (investigation->incomplete && !investigate_has_time_for(investigation, RUNS_BEHIND))
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
	return result == ERROR_INTERRUPTED ? 0 : result;
}

static void investigate_fill_replay(
	struct finding *finding, const struct investigation *investigation)
{
	const struct worker_params *worker = &investigation->probe.worker;
	size_t count = 0;

	while (worker->argv[count])
		count++;
	finding->argv = array_new(count + 1, sizeof *finding->argv);
	for (size_t i = 0; i < count; i++)
		finding->argv[i] = string_copy(worker->argv[i]);
	finding->directory = string_copy(worker->directory);
	finding->input = string_copy(worker->input);
	finding->settings = settings_to_json(investigation->probe.settings);
	finding->environment = surroundings_take();
	finding->memory = memory_view_to_json(investigation->probe.memory);
	finding->replays = investigation->confirmation.replays;
	finding->replays_failed_again = investigation->confirmation.failed_again;
	finding_sign_exit(finding);
}

/* Describes the recorded run if the traced run does not show the failure. */
static int investigate_trace_or_describe(const struct investigation *investigation,
	const struct failure *failure, struct finding *finding, struct error *err)
{
	struct probe_params params = investigation->probe;
	struct probe_plan plan = probe_plan_exact(failure);
	struct earlier_access earlier;
	struct probe probe;
	struct ingredients ingredients = {.probe = &probe, .earlier = &earlier};
	int result;

	params.restart = RESTART_EXEC;
	params.worker.output = OUTPUT_KEEP;
	investigate_look_at_earlier_access(&params, failure, &earlier);
	trace_window_apply(&params, failure);
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = investigate_trace_run(&ingredients, &plan, finding, err);
	if (result == 0 && !(finding->kind == (enum outcome_kind)failure->outcome.kind &&
				   finding->code == failure->outcome.code)) {
		finding_release(finding);
		probe.report = REPORT_NONE; /* the process of this run no longer exists */
		probe.worker.contract->trace_count = 0;
		ingredients.run = failure;
		ingredients.earlier = NULL;
		result = investigate_build(
			finding, &ingredients, err); /* with the symbols of the trace */
		if (result == 0) {
			finding->switches = failure->switches;
			finding->preemptions = failure->preemptions;
		}
	}
	symbols_free(ingredients.symbols);
	probe_close(&probe);
	return result;
}

int investigate_glance(const struct investigation *investigation, const struct failure *failure,
	struct finding *finding, struct error *err)
{
	struct finding built;
	int result;

	memset(&built, 0, sizeof built);
	result = investigate_trace_or_describe(investigation, failure, &built, err);
	if (result == 0)
		*finding = built;
	return result;
}

int investigate_schedule(struct investigation *investigation, struct failure *failure,
	struct finding *finding, struct error *err)
{
	static const volatile int never = 0;
	uint32_t switches = failure->switches;
	uint32_t preemptions = failure->preemptions;
	struct finding built;
	uint64_t begun_ns;
	int result;

	investigation->incomplete = investigation->without_minimising
					    ? "minimising was switched off"
					    : "the failure does not repeat";
	investigation->left_out = 0;
	investigation->replay_ns = 0;
	investigation->depth = (struct depth){0};
	memset(&built, 0, sizeof built);
	begun_ns = platform_monotonic_ns();
	result = confirm(&investigation->confirmation, failure, &investigation->probe,
		investigation->until_ns, err);
	if (result == 0)
		investigation->replay_ns =
			(platform_monotonic_ns() - begun_ns) / investigation->confirmation.replays;
	if (result == 0 && confirmation_is_repeatable(&investigation->confirmation) &&
		!investigation->without_minimising)
		result = investigate_minimise_and_confirm(investigation, failure, err);
	if (result < 0 && result != ERROR_INTERRUPTED)
		return result;
	/* An interrupt ends minimising, but the finding still needs this run. */
	investigation->probe.is_interrupted = &never;
	result = investigate_trace_or_describe(investigation, failure, &built, err);
	if (result < 0)
		return result;
	if (investigation->confirmation.replays < CONFIRM_REPLAYS &&
		!investigate_has_time_for(
			investigation, 1)) /* no time is left; an interrupt does not count */
		investigation->left_out |= 1u << PART_REPLAYS;
	if (confirmation_is_repeatable(&investigation->confirmation)) {
		if (investigate_has_time_for(investigation, PASSING_RUNS))
			passing_find(&investigation->probe, failure, &built);
		else
			investigation->left_out |= 1u << PART_PASSING_RUN;
	}
	investigate_fill_replay(&built, investigation);
	built.switches_found = switches;
	built.preemptions_found = preemptions;
	built.incomplete =
		investigation->incomplete ? string_copy(investigation->incomplete) : NULL;
	depth_fit_to_schedule(&investigation->depth, failure);
	built.depth = investigation->depth.depth;
	built.radius = investigation->depth.radius;
	finding_keep_sources(&built);
	*finding = built;
	return 0;
}
