#include "investigate/passing.h"

#include "investigate/investigate.h"
#include "investigate/trace_window.h"

/* Number of segments before the last one that preempts an enabled thread. */
static uint32_t before_last_preemption(const struct failure *failure)
{
	uint32_t count = failure->segment_count;

	while (count && !(failure->segments[count - 1].flags & SEGMENT_PREEMPTS))
		count--;
	return count ? count - 1 : 0;
}

static bool try_prefix(const struct probe_params *params, const struct failure *failure,
	uint32_t segment_count, struct finding *finding)
{
	struct probe_plan plan = probe_plan_exact(failure);
	struct finding run = {0};
	struct probe probe;
	bool has_passed = false;

	plan.segment_count = segment_count;
	if (probe_open(&probe, params, NULL) < 0)
		return false;
	if (investigate_trace(&probe, &plan, 0, &run, NULL) == 0) {
		has_passed = run.kind == OUTCOME_PASSED && !probe.is_failure && run.step_count;
		if (has_passed) {
			finding->passing_steps = run.steps;
			finding->passing_step_count = run.step_count;
			finding->passing_steps_left_out = run.steps_left_out;
			run.steps = NULL;
			run.step_count = 0;
		}
		finding_release(&run);
	}
	probe_close(&probe);
	return has_passed;
}

void passing_find(
	const struct probe_params *params, const struct failure *failure, struct finding *finding)
{
	const uint32_t before = before_last_preemption(failure);
	struct probe_params own = *params;

	own.restart = RESTART_EXEC;
	own.worker.output = OUTPUT_KEEP; /* output is not forwarded to the terminal */
	trace_window_apply_passing(&own, failure);
	if (!try_prefix(&own, failure, before, finding) && before)
		(void)try_prefix(&own, failure, 0, finding);
}
