/*
 * Whether a failure needs interruption points (runtime/focus.h). Without them, a thread executes what follows an
 * operation together with the operation, and not when the thread moves again. The order of all
 * operations stays the same. The run has fewer steps, and the reader fewer questions.
 */
#include "base/array.h"
#include "investigate/investigate_internal.h"
#include "investigate/trace_window.h"

/* Longer runs keep their interruption points: a traced run of them is slow. */
#define STEPS_MOST (UINT64_C(1) << 20)

/* Returns the segments of `failure` without the steps at interruption points, which a traced run shows; NULL: its
 * trace is not complete. The caller frees them. */
static struct schedule_segment *investigate_interruption_points_drop(
	const struct failure *failure, struct contract *contract)
{
	const struct trace_event *events = contract_area(contract, contract->trace_offset);
	const uint64_t count = contract->trace_count;
	struct schedule_segment *segments;
	uint64_t event = 0, step = 0;

	if (count > contract->trace_bytes / sizeof *events)
		return NULL;
	segments = array_new(failure->segment_count, sizeof *segments);
	for (uint32_t i = 0; i < failure->segment_count; i++) {
		segments[i] = failure->segments[i];
		if (segments[i].flags & SEGMENT_VALUE)
			continue;
		step += failure->segments[i].count;
		for (; event < count && events[event].step < step; event++)
			segments[i].count -=
				(op_descriptions[events[event].kind].flags & OP_INTERRUPTION) != 0;
	}
	return segments;
}

/* One run under the plan, with the settings; *segments as above if the run is traced. */
static int investigate_interruption_points_run(const struct investigation *investigation,
	const struct settings *settings, struct failure *failure,
	struct schedule_segment **segments, bool *shows, struct error *err)
{
	const bool is_traced = !*segments;
	struct probe_plan plan = probe_plan_exact(failure);
	struct probe_params params = investigation->probe;
	struct probe probe;
	int result;

	params.settings = settings;
	params.worker.output = OUTPUT_DISCARD;
	params.trace_events = is_traced ? trace_window_events(failure->step_count) : 0;
	if (!is_traced)
		plan.segments = *segments;
	result = probe_open(&probe, &params, err);
	if (result < 0)
		return result;
	result = probe_run(&probe, &plan, err);
	*shows = result == 0 && !probe.has_diverged && probe_shows(&probe, failure);
	if (*shows && is_traced)
		*segments = investigate_interruption_points_drop(failure, probe.worker.contract);
	else if (*shows)
		failure_take(failure, probe.worker.contract);
	probe_close(&probe);
	return result;
}

int investigate_interruption_points(const struct investigation *investigation,
	struct failure *failure, struct settings *settings, struct error *err)
{
	FREE_SCOPED struct schedule_segment *segments = NULL;
	bool shows = false;
	int result;

	const enum interruption_points points = failure->interruption_points;

	settings->interruption_points = points;
	if (points == INTERRUPTION_POINTS_NONE || investigation->without_minimising ||
		failure->is_truncated || failure->step_count > STEPS_MOST)
		return 0;
	result = investigate_interruption_points_run(
		investigation, settings, failure, &segments, &shows, err);
	if (segments) {
		settings->interruption_points = INTERRUPTION_POINTS_NONE;
		result = investigate_interruption_points_run(
			investigation, settings, failure, &segments, &shows, err);
		if (!shows)
			settings->interruption_points = points;
	}
	return result == ERROR_INTERRUPTED ? 0 : result;
}
