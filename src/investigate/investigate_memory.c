/*
 * A failure of the first run has no accesses: the run did not know yet which memory is shared. Its
 * schedule is followed once more with that knowledge, so that the finding shows the accesses and
 * minimising can order them.
 */
#include "investigate/investigate_internal.h"

/* Returns whether the run had sites, but no variable that was a scheduling point. */
static bool investigate_lacks_memory(
	const struct investigation *investigation, const struct failure *failure)
{
	const struct memory_view *memory = investigation->probe.memory;

	/* Under another model a schedule has values for accesses. */
	return memory && memory->mode == MEMORY_LEARN && memory->module_count &&
	       !memory->point_count && !failure->is_truncated &&
	       investigation->probe.settings->memory_model == MEMORY_MODEL_SC;
}

int investigate_with_accesses(struct investigation *investigation, struct failure *failure,
	struct memory_view *learnt, struct error *err)
{
	struct probe_params params = investigation->probe;
	struct probe_plan plan = probe_plan_exact(failure);
	struct probe probe;
	int result;

	if (!investigate_lacks_memory(investigation, failure))
		return 0;
	params.memory = NULL;
	params.learns_memory = true;
	params.restart = RESTART_EXEC;
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	plan.lacks_accesses = true;
	if (result == 0 && probe.is_failure && !probe.has_diverged)
		result = probe_run(&probe, &plan, err);
	if (result == 0 && !probe.has_diverged && probe_shows(&probe, failure)) {
		const uint64_t run_number = failure->run_number;

		memory_view_take(learnt, contract_memory(probe.worker.contract));
		investigation->probe.memory = learnt;
		failure_take(failure, probe.worker.contract);
		failure->run_number = run_number;
	}
	probe_close(&probe);
	return result;
}
