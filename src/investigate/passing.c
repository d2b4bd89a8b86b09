#include "investigate/passing.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "investigate/investigate.h"
#include "investigate/trace_window.h"

/* Number of segments before the last one that preempts an enabled thread. */
static uint32_t passing_before_last_preemption(const struct failure *failure)
{
	uint32_t count = failure->segment_count;

	while (count && !(failure->segments[count - 1].flags & SEGMENT_PREEMPTS))
		count--;
	return count ? count - 1 : 0;
}

static void passing_copy(char **to, const char *from)
{
	free(*to);
	*to = string_copy(from);
}

static bool passing_is_unnamed(const struct finding_step *step)
{
	return step->object && strstr(step->object, " first used at ");
}

/* Do two steps of different runs concern one object? Memory at one address may hold locals of different calls. */
static bool passing_is_same_object(
	const struct finding_step *passing, const struct finding_step *failing)
{
	if (passing->address != failing->address || !failing->object || passing_is_unnamed(failing))
		return false;
	if (!strncmp(passing->object, "memory ", 7))
		return passing->where.line == failing->where.line &&
		       !strcmp(passing->verb, failing->verb);
	return !strncmp(passing->object, failing->object, strcspn(passing->object, "#"));
}

/*
 * Locals of a function that has returned have no names at the end of the passing run. The failing
 * run has names for the same addresses, because both runs have one layout.
 */
static void passing_name_locals(struct finding *finding)
{
	for (uint32_t i = 0; i < finding->passing_step_count; i++) {
		struct finding_step *passing = &finding->passing_steps[i];

		for (uint32_t j = 0; passing_is_unnamed(passing) && j < finding->step_count; j++) {
			const struct finding_step *failing = &finding->steps[j];

			if (!passing_is_same_object(passing, failing))
				continue;
			passing_copy(&passing->object, failing->object);
			if (passing->where.line == failing->where.line)
				passing_copy(&passing->library_call, failing->library_call);
		}
	}
}

static bool passing_try_prefix(const struct probe_params *params, const struct failure *failure,
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
			passing_name_locals(finding);
		}
		finding_release(&run);
	}
	probe_close(&probe);
	return has_passed;
}

void passing_find(
	const struct probe_params *params, const struct failure *failure, struct finding *finding)
{
	const uint32_t before = passing_before_last_preemption(failure);
	struct probe_params own = *params;

	own.restart = RESTART_EXEC;
	own.worker.output = OUTPUT_KEEP; /* output is not forwarded to the terminal */
	trace_window_apply_passing(&own, failure);
	if (!passing_try_prefix(&own, failure, before, finding) && before)
		(void)passing_try_prefix(&own, failure, 0, finding);
}

void passing_try_others(
	const struct probe_params *params, const struct failure *failure, struct finding *finding)
{
	struct probe_params own = *params;
	struct probe probe;
	uint32_t failed = 0;
	bool shows = true;

	own.worker.output = OUTPUT_DISCARD;
	if (probe_open(&probe, &own, NULL) < 0)
		return;
	while (shows && failed < PASSING_OTHER_SCHEDULES) {
		const struct probe_plan plan = {
			.strategy = failed & 1 ? &strategy_pos : &strategy_random};

		shows = probe_run(&probe, &plan, NULL) == 0 && probe_shows(&probe, failure);
		failed += shows;
	}
	probe_close(&probe);
	if (shows)
		finding->other_schedules_failed = failed;
}
