#include "commands/explain/runs/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "process/children.h"
#include "process/cores.h"
#include "commands/explain/runs/explain_internal.h"
#include "plan/restart.h"
#include "investigate/trace_window.h"
#include "detectors/detector.h"
#include "detectors/patterns.h"
#include "platform/platform.h"
#include "strategies/directed/directed.h"

/* Runs to learn the shared memory end when this many in a row found no new one. */
#define LEARN_STABLE_RUNS 12
#define LEARN_RUNS_MAX 200

const struct explain_limits explain_limits = {
	.window = PATTERNS_WINDOW,
	.patterns = PATTERNS_KEPT_MAX,
	.variables = PATTERNS_VARIABLES_MAX,
};

bool explain_is_disturbed(const struct explain *explain)
{
	return explain->is_disturbed;
}

struct symbols *explain_symbols(const struct explain *explain)
{
	return explain->symbols;
}

uint64_t explain_elapsed_ns(const struct explain *explain)
{
	return platform_monotonic_ns() - explain->opened_ns;
}

/* Replays the finding for its failure's key and, if the process stops, its symbols. */
static int explain_replay_own_run(
	struct explain *explain, bool is_process_stopped, struct error *err)
{
	struct probe_params params = explain->setting.probe;
	struct probe probe;
	struct contract *contract;
	int result;

	params.worker.output = OUTPUT_DISCARD;
	/* makes the process stop for inspection even if the run passes */
	params.trace_events = 1;
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	contract = probe.worker.contract;
	contract->plan.inspect = is_process_stopped;
	result = probe_run(&probe, &explain->setting.plan, err);
	if (result == 0) {
		/* Locations are addresses if the symbols cannot be read. */
		if (probe.report == REPORT_INSPECT)
			(void)symbols_from_process(
				&explain->symbols, (pid_t)contract->guest_pid, NULL);
		if (probe.is_failure && contract->outcome.kind == explain->finding->kind &&
			contract->outcome.code == explain->finding->code)
			explain->failure = contract->outcome;
	}
	probe_close(&probe);
	return result;
}

static int explain_replay_for_symbols(struct explain *explain, struct error *err)
{
	const int result = explain_replay_own_run(explain, true, err);

	if (result < 0 || explain->finding->kind != OUTCOME_CHECK_FAILED)
		return result;
	return explain_replay_own_run(explain, false, err);
}

void *explain_patterns_state(const struct worker *worker)
{
	struct contract *contract = worker->contract;

	return detectors_state(
		contract_area(contract, contract->detectors_offset), DETECTOR_patterns);
}

#define STEPS_LEAST 20000u
#define STEPS_TIMES 50u

static uint64_t explain_step_limit(const struct explain *explain)
{
	const uint64_t limit = explain->setting.settings.step_limit;
	uint64_t steps = STEPS_TIMES * explain->finding->schedule.step_count;

	if (steps < STEPS_LEAST)
		steps = STEPS_LEAST;
	return explain->finding->kind == OUTCOME_LIVELOCK || steps > limit ? limit : steps;
}

static int explain_open_worker(struct explain *explain, struct error *err)
{
	const struct explain_options *options = explain->options;
	const struct settings *settings = &explain->setting.settings;
	struct worker_params params = explain->setting.probe.worker;
	struct worker *worker = &explain->slots[0].worker;
	struct contract_memory *memory;
	struct contract_plan *plan;
	int result;

	params.output = OUTPUT_DISCARD;
	params.check = settings->check;
	params.hang_ns = settings->hang_ns;
	params.runtime = options->runtime;
	explain->strategy_bytes =
		strategy_state_bytes(strategies[options->strategy], &options->strategy_config);
	params.sizes = (struct contract_sizes){
		.strategy_bytes = explain->strategy_bytes > sizeof(struct directed_state)
					  ? explain->strategy_bytes
					  : sizeof(struct directed_state),
		.detector_bytes = detectors_bytes(),
	};
	result = worker_open(worker, &params, err);
	if (result < 0)
		return result;
	explain->slot_count = explain->active = 1;
	memory = contract_memory(worker->contract);
	memory_view_apply(&explain->setting.memory, memory);
	memory->is_frozen = false;
	plan = &worker->contract->plan;
	settings_to_plan(settings, plan);
	if (!explain->finding->depends_on_time)
		plan->stall_ns = 0;
	plan->step_limit = explain_step_limit(explain);
	races_apply(&settings->races, worker->contract);
	plan->restart = settings->check ? RESTART_EXEC : restart_fastest(settings->executor);
	plan->strategy = options->strategy;
	plan->strategy_config = options->strategy_config;
	plan->seed = options->seed;
	plan->stop_at_failure = true;
	if (!options->without_patterns)
		plan->detectors |= 1u << DETECTOR_patterns;
	patterns_configure(explain_patterns_state(worker), options->window);
	worker_clear_strategy(worker, explain->strategy_bytes);
	return 0;
}

int explain_open(struct explain **out, const struct finding *finding,
	const struct explain_options *options, struct error *err)
{
	const struct replay_options replay = {.runtime = options->runtime,
		.is_quiet = true,
		.is_interrupted = options->is_interrupted};
	struct explain *explain = array_new(1, sizeof *explain);
	int result;

	explain->finding = finding;
	explain->options = options;
	explain->opened_ns = platform_monotonic_ns();
	result = replay_prepare(&explain->setting, finding, &replay, err);
	explain->is_setting_ready = result == 0;
	if (result == 0 && finding->kind == OUTCOME_LIVELOCK)
		explain->setting.settings.step_limit =
			trace_window_loop_limit(finding, explain->setting.settings.step_limit);
	if (result == 0)
		result = explain_replay_for_symbols(explain, err);
	explain->locations.symbols = explain->symbols;
	if (result == 0)
		result = explain_open_worker(explain, err);
	if (result < 0) {
		explain_close(explain);
		return result;
	}
	*out = explain;
	return 0;
}

void explain_close(struct explain *explain)
{
	if (!explain)
		return;
	for (uint32_t i = 0; i < explain->slot_count; i++)
		worker_close(&explain->slots[i].worker);
	children_kill_strays();
	explain_forget(explain);
	memory_view_release(&explain->memory);
	free(explain->patterns);
	explain_locations_release(&explain->locations);
	symbols_free(explain->symbols);
	if (explain->is_setting_ready)
		replay_setting_release(&explain->setting);
	free(explain);
}

bool explain_repeats(const struct explain *explain)
{
	return explain->failure.kind != OUTCOME_NONE;
}

bool explain_sees_memory(const struct explain *explain)
{
	struct contract *contract = explain->slots[0].worker.contract;

	return contract->has_memory_sites && contract_memory(contract)->mode != MEMORY_NONE;
}

/* Returns whether the run failed like the finding. Two copies of a line made by the compiler are
 * one location, as in a finding's signature. */
static bool explain_is_same_failure(struct explain *explain, const struct outcome *outcome)
{
	const struct outcome *own = &explain->failure;
	const bool is_abort = outcome->kind == OUTCOME_ABORT;

	if (failure_key(outcome) == failure_key(own))
		return true;
	if (!is_abort && outcome->kind != OUTCOME_CRASH)
		return false;
	return explain_site(explain, is_abort ? outcome->other_site : outcome->site)->id ==
	       explain_site(explain, is_abort ? own->other_site : own->site)->id;
}

static enum explain_verdict explain_verdict_of(struct explain *explain)
{
	const struct worker *worker = &explain->made->worker;
	const struct outcome *outcome = &worker->contract->outcome;

	if (outcome->kind == OUTCOME_STEP_LIMIT)
		return EXPLAIN_OTHER;
	if (!worker_is_failure(worker))
		return EXPLAIN_PASSED;
	if (outcome->kind != explain->finding->kind || outcome->code != explain->finding->code)
		return EXPLAIN_OTHER;
	return !explain_repeats(explain) || explain_is_same_failure(explain, outcome)
		       ? EXPLAIN_FAILED
		       : EXPLAIN_OTHER;
}

static int explain_run_once(struct explain *explain, struct error *err)
{
	explain->made = &explain->slots[0];
	return explain_runs_take(explain, err);
}

/* Returns whether explanations of this failure also compare orders of locks, waits and signals. */
static bool explain_is_wait(enum outcome_kind kind)
{
	return kind == OUTCOME_DEADLOCK || kind == OUTCOME_LOST_WAKEUP ||
	       kind == OUTCOME_USE_AFTER_FREE || kind == OUTCOME_USE_AFTER_RETURN;
}

int explain_learn(struct explain *explain, struct error *err)
{
	struct contract_memory *memory = contract_memory(explain->slots[0].worker.contract);
	const uint32_t slots =
		explain->options->workers ? explain->options->workers : cores_available();
	uint32_t unchanged_runs = 0;

	for (uint32_t i = 0; i < LEARN_RUNS_MAX && unchanged_runs < LEARN_STABLE_RUNS; i++) {
		const uint64_t known = memory->points_version;
		int result = explain_run_once(explain, err);

		if (result < 0)
			return result;
		explain_runs_resume(explain);
		unchanged_runs = memory->points_version == known && !memory->newly_shared
					 ? unchanged_runs + 1
					 : 0;
	}
	explain->has_orders =
		!explain_sees_memory(explain) || explain_is_wait(explain->finding->kind);
	patterns_include_orders(
		explain_patterns_state(&explain->slots[0].worker), explain->has_orders);
	memory->is_frozen = true;
	memory_view_release(&explain->memory);
	memory_view_take(&explain->memory, memory);
	explain_runs_spread(explain, slots);
	return 0;
}

void explain_location_patterns(
	struct explain *explain, const struct pattern *from, uint32_t count, struct pattern *to)
{
	for (uint32_t i = 0; i < count; i++) {
		to[i] = from[i];
		to[i].key = explain_locations_key(&explain->locations, &from[i]);
	}
}

static void explain_take_patterns(struct explain *explain, struct explain_run *run)
{
	void *state = explain_patterns_state(&explain->made->worker);
	const struct pattern *patterns;

	run->pattern_count = patterns_of_run(state, &patterns);
	run->patterns_dropped = patterns_dropped(state);
	run->accesses_dropped = patterns_accesses_dropped(state);
	if (run->pattern_count > explain->pattern_capacity) {
		explain->pattern_capacity = 2 * run->pattern_count;
		free(explain->patterns);
		explain->patterns = array_new(explain->pattern_capacity, sizeof *explain->patterns);
	}
	explain_location_patterns(explain, patterns, run->pattern_count, explain->patterns);
	run->patterns = explain->patterns;
}

int explain_run(struct explain *explain, struct explain_run *run, struct error *err)
{
	int result = explain_run_once(explain, err);

	if (result < 0)
		return result;
	*run = (struct explain_run){
		.verdict = explain_verdict_of(explain),
		.steps = explain->made->worker.contract->outcome.step,
	};
	if (!explain->options->without_patterns) {
		explain_take_patterns(explain, run);
		explain_keep(explain, run);
	}
	explain_runs_resume(explain);
	return 0;
}

int explain_measure(struct explain *explain, uint64_t runs, uint64_t *took_ns, struct error *err)
{
	struct worker *worker = &explain->slots[0].worker;
	struct contract_plan *plan = &worker->contract->plan;
	const uint64_t begun_ns = watchdog_processor_ns(worker->pid);
	enum contract_report report;
	int result;

	plan->run_first = explain->run_next;
	plan->run_limit = runs;
	plan->stop_at_failure = false;
	result = worker_run(worker, explain->options->is_interrupted, &report, err);
	plan->stop_at_failure = true;
	explain->run_next += runs;
	*took_ns = watchdog_processor_ns(worker->pid) - begun_ns;
	if (result == 0 && report != REPORT_BATCH)
		result = error_set(err, ERROR_TARGET,
			"each run of this program needs its own process, so the cost cannot be measured; choose another program");
	return result;
}

const struct explain_location *explain_site(struct explain *explain, uint64_t site)
{
	return explain_location(&explain->locations, site);
}

const char *explain_function(struct explain *explain, uint64_t start)
{
	struct symbols_frame frame;

	/*
	 * The outermost frame: other functions may have been inlined at the beginning of this one.
	 */
	if (!explain->symbols || !symbols_lookup(explain->symbols, start, false, &frame, 1))
		return NULL;
	return frame.function;
}
