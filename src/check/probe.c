/*
 * Implements investigate/probe/probe.h in a check: a run of a plan is a run of the function, in this
 * process.
 */
#include "investigate/probe/probe.h"

#include <string.h>

#include "plan/strategy_option.h"
#include "check/check_internal.h"
#include "runtime/runtime.h"

static struct probe_function function_of_probe;

void probe_set_function(const struct probe_function *function)
{
	function_of_probe = *function;
}

uint64_t probe_strategy_bytes(void)
{
	return replay_state_bytes(PROBE_SEGMENTS_MAX, 0);
}

int probe_open(struct probe *probe, const struct probe_params *params, struct error *err)
{
	struct contract *contract = room_contract();
	struct strategy_config config;
	uint32_t strategy;
	int code = strategy_parse("replay", &strategy, &config, err);

	(void)params;
	if (code)
		return code;
	*probe = (struct probe){.worker.contract = contract};
	contract->plan.strategy = strategy;
	contract->plan.strategy_config = config;
	return 0;
}

void probe_close(struct probe *probe)
{
	probe->worker.contract = NULL;
}

int probe_run(struct probe *probe, const struct probe_plan *plan, struct error *err)
{
	struct contract *contract = probe->worker.contract;
	struct replay_state *state = contract_strategy(contract);
	const size_t bytes = replay_state_bytes(plan->segment_count, plan->fall_count);
	int (*const has_failed)(void) = function_of_probe.has_failed;
	int noted;

	/* A failed run leaves blocked threads, and has_failed() takes a lock of the framework. */
	engine_renew();
	noted = has_failed ? has_failed() : 0;
	steps_forget(); /* the framework's own locks are not operations of the run */
	if (bytes > contract->strategy_bytes)
		return error_set(err, ERROR_USAGE, "the schedule is too long");
	memset(state, 0, bytes);
	replay_state_init(state, plan->mode, plan->segments, plan->segment_count, plan->falls,
		plan->fall_count);
	state->skips_disabled = plan->skips_disabled;
	contract->plan.is_fresh_state = true;
	function_run(
		function_of_probe.function, function_of_probe.argument, function_of_probe.frame, 0);
	probe->run_count++;
	probe->is_failure = runtime_account_run();
	if (!probe->is_failure && has_failed && has_failed() > noted) {
		probe->is_failure = true;
		runtime_publish_threads();
	}
	return 0;
}
