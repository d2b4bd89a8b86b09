#include "investigate/probe/probe.h"

#include <string.h>

#include "base/bug.h"
#include "plan/restart.h"
#include "detectors/detector.h"
#include "detectors/patterns.h"
#include "strategies/strategy.h"

/* Number of priority falls (strategies/replay/replay.h) for which a probe's replay state has space. Plans in other
 * modes keep their operations, preemptions or inner strategy in that space. */
#define FALLS_MAX (UINT32_C(1) << 20)

uint64_t probe_strategy_bytes(void)
{
	return replay_state_bytes(CONTRACT_SEGMENTS_MAX, FALLS_MAX);
}

void *probe_patterns(const struct probe *probe)
{
	struct contract *contract = probe->worker.contract;

	return detectors_state(
		contract_area(contract, contract->detectors_offset), DETECTOR_patterns);
}

static void probe_take_idle(struct probe *probe, struct probe_idle *idle)
{
	*probe = idle->probe;
	probe->run_count = 0;
	idle->is_open = false;
}

int probe_open(struct probe *probe, const struct probe_params *params, struct error *err)
{
	struct worker_params worker = params->worker;
	struct contract_plan *plan;
	int result;

	if (params->idle && params->idle->is_open) {
		probe_take_idle(probe, params->idle);
		return 0;
	}
	worker.sizes = (struct contract_sizes){
		.strategy_bytes = probe_strategy_bytes(),
		.trace_events = params->trace_events,
		.record_bytes = params->worker.sizes.record_bytes,
		.detector_bytes = params->has_patterns || params->watches_races
					  ? detectors_bytes()
					  : races_state_bytes(&params->settings->races),
	};
	worker.check = params->settings->check;
	worker.hang_ns = params->hang_ns ? params->hang_ns : params->settings->hang_ns;
	worker.run_limit_ns = params->run_limit_ns;
	*probe = (struct probe){.is_interrupted = params->is_interrupted, .idle = params->idle};
	result = worker_open(&probe->worker, &worker, err);
	if (result < 0)
		return result;
	if (params->learns_memory)
		contract_memory(probe->worker.contract)->mode = params->settings->memory_mode;
	else
		memory_view_apply(params->memory ? params->memory : &(const struct memory_view){0},
			contract_memory(probe->worker.contract));
	plan = &probe->worker.contract->plan;
	settings_to_plan(params->settings, plan);
	plan->ends_alone = true;
	races_apply(&params->settings->races, probe->worker.contract);
	if (params->watches_races)
		races_watch(probe->worker.contract);
	plan->has_contexts = params->has_contexts;
	if (params->has_patterns) {
		plan->detectors |= 1u << DETECTOR_patterns;
		patterns_configure(probe_patterns(probe), params->pattern_window);
		patterns_include_orders(probe_patterns(probe), params->has_orders);
	}
	plan->restart = params->restart;
	plan->strategy_config.thread_capacity = THREAD_CAPACITY;
	probe->step_limit = plan->step_limit;
	plan->run_limit = 1;
	plan->stop_at_failure = true;
	plan->is_traced = params->trace_events > 0;
	plan->trace_from = params->trace_from;
	return 0;
}

void probe_close(struct probe *probe)
{
	struct probe_idle *idle = probe->idle;

	/* Only a server that waits for a plan can make the next run at once. */
	if (idle && !idle->is_open && probe->worker.state == WORKER_IDLE) {
		*idle = (struct probe_idle){.probe = *probe, .is_open = true};
		return;
	}
	if (probe->worker.contract)
		worker_close(&probe->worker);
}

void probe_idle_close(struct probe_idle *idle)
{
	if (idle->is_open)
		worker_close(&idle->probe.worker);
	idle->is_open = false;
}

void probe_fill(struct probe *probe, const struct probe_plan *plan)
{
	struct worker *worker = &probe->worker;
	struct contract_plan *to = &worker->contract->plan;
	struct replay_state *state;

	to->strategy = strategy_index(plan->strategy ? plan->strategy : &strategy_replay);
	to->stall_ns = plan->strategy ? 0 : STALL_ANY; /* strategy_replay chooses the stalls */
	if (plan->strategy) {
		memcpy(to->strategy_config.option, plan->options, sizeof plan->options);
		if (!plan->is_continued)
			worker_clear_strategy(
				worker, strategy_state_bytes(plan->strategy, &to->strategy_config));
		return;
	}
	worker_clear_strategy(
		worker, replay_state_bytes(plan->segment_count, plan->fall_count) +
				(plan->op_capacity ? replay_observe_bytes(plan->op_capacity) : 0) +
				(plan->mode == REPLAY_PREEMPT ? replay_preempt_bytes() : 0));
	/* The state is filled here, so the worker must not initialise it. */
	worker->is_strategy_fresh = false;
	state = contract_strategy(worker->contract);
	replay_state_init(state, plan->mode, plan->segments, plan->segment_count, plan->falls,
		plan->fall_count);
	if (plan->names)
		replay_state_set_names(state, plan->names, plan->name_count);
	if (plan->is_random_after)
		replay_state_set_random(state);
	if (plan->knows_few_values)
		replay_state_set_few_values(state);
	state->skips_disabled = plan->skips_disabled;
	state->lacks_accesses = plan->lacks_accesses;
	if (plan->mode == REPLAY_PREEMPT)
		replay_state_set_preemptions(state, plan->preemptions, plan->preemption_count,
			plan->sites, plan->site_count);
	if (plan->op_capacity)
		replay_state_set_observed(state, plan->op_capacity);
}

static void probe_prepare(struct probe *probe, const struct probe_plan *plan)
{
	struct contract *contract = probe->worker.contract;

	BUG_ON(plan->segment_count > CONTRACT_SEGMENTS_MAX);
	BUG_ON(plan->fall_count > FALLS_MAX);
	probe_fill(probe, plan);
	contract->plan.run_first = probe->run_count;
	contract->plan.run_limit = plan->batch ? plan->batch : 1;
	contract->plan.step_limit = plan->step_limit && plan->step_limit < probe->step_limit
					    ? plan->step_limit
					    : probe->step_limit;
}

static void probe_note_run(struct probe *probe, uint64_t runs)
{
	struct contract *contract = probe->worker.contract;
	const struct replay_state *state = contract_strategy(contract);

	probe->run_count += runs;
	probe->is_failure = worker_is_failure(&probe->worker);
	probe->has_diverged = contract->outcome.kind == OUTCOME_DIVERGED;
	if (strategies[contract->plan.strategy] != &strategy_replay)
		return;
	probe->diverged_step = state->diverged_step;
	probe->has_diverged |= state->diverged != 0;
}

static bool probe_needs_restart(const struct probe *probe, enum contract_restart *next)
{
	const struct contract *contract = probe->worker.contract;

	const bool is_refused =
		probe->report == REPORT_REFUSED && contract->outcome.code == REFUSAL_RESTART;

	if (probe->report != REPORT_TAINTED && probe->report != REPORT_DIED && !is_refused)
		return false;
	*next = restart_next((enum contract_restart)contract->plan.restart,
		(enum contract_executor)contract->plan.executor);
	if (is_refused)
		return *next != RESTART_COUNT;
	/* The program ended before it created a thread, or exceeded the limit: the run counts. */
	return contract->is_live && *next != RESTART_COUNT;
}

int probe_begin(struct probe *probe, const struct probe_plan *plan, struct error *err)
{
	probe_prepare(probe, plan);
	return worker_begin(&probe->worker, err);
}

int probe_poll(struct probe *probe, bool *is_over, bool *is_spoilt, struct error *err)
{
	enum contract_restart next;
	int result = worker_poll(&probe->worker, &probe->report, err);

	*is_over = result == 0 && probe->report != REPORT_NONE;
	*is_spoilt =
		*is_over && (probe->report == REPORT_REFUSED || probe_needs_restart(probe, &next));
	if (*is_over && !*is_spoilt)
		probe_note_run(probe, 1);
	return result;
}

void probe_abandon(struct probe *probe)
{
	worker_abandon(&probe->worker);
	probe->report = REPORT_DIED;
	probe_note_run(probe, 1);
}

int probe_run(struct probe *probe, const struct probe_plan *plan, struct error *err)
{
	struct worker *worker = &probe->worker;
	struct contract *contract = worker->contract;
	const uint64_t before = contract->totals.runs;

	for (;;) {
		enum contract_restart next;
		int result;

		probe_prepare(probe, plan);
		result = worker_run(worker, probe->is_interrupted, &probe->report, err);
		if (result < 0)
			return result;
		if (!probe_needs_restart(probe, &next)) {
			if (probe->report == REPORT_REFUSED)
				return error_set(err, ERROR_TARGET, "%s", contract->outcome.text);
			break;
		}
		worker_kill(worker);
		contract->plan.restart = next;
	}
	probe_note_run(probe, plan->batch ? contract->totals.runs - before : 1);
	return 0;
}
