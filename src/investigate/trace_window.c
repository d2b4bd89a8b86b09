#include "investigate/trace_window.h"

/* 256 MB of events; later events are counted as missing. */
#define EVENTS_MAX (UINT64_C(4) << 20)
/* 8 MB of events of a loop, negligible beside its millions of steps. */
#define LOOP_EVENTS (UINT64_C(1) << 17)
/* A passing run may be this many times longer than the failing one. */
#define LONGER 4

/*
 * A run is endless after `limit` / LOOP_PART steps; beside a passing run, after LOOP_PART_KNOWN and
 * PASSING_TIMES its length.
 */
#define LOOP_PART 50
#define LOOP_PART_KNOWN 500
#define PASSING_TIMES 50
/* The numbers of steps at which the engine compares states are powers of two (engine/loop.c). */
#define STATE_TIMES 2

uint64_t trace_window_events(uint64_t step_count)
{
	/* A replay that diverges from its schedule may be longer. */
	const uint64_t wanted = 2 * step_count + 4096;

	return wanted < EVENTS_MAX ? wanted : EVENTS_MAX;
}

static bool trace_window_is_long_loop(const struct failure *failure)
{
	return failure->outcome.kind == OUTCOME_LIVELOCK && failure->step_count > LOOP_EVENTS;
}

void trace_window_apply(struct probe_params *params, const struct failure *failure)
{
	uint64_t from, slice_start;

	params->trace_events = trace_window_events(failure->step_count);
	params->trace_from = 0;
	if (!trace_window_is_long_loop(failure))
		return;
	from = failure->step_count - LOOP_EVENTS;
	slice_start = failure_loop_start(failure->segments, failure->segment_count);
	if (slice_start < from + LOOP_EVENTS / 2)
		from = slice_start > LOOP_EVENTS / 2 ? slice_start - LOOP_EVENTS / 2 : 0;
	params->trace_from = from;
	params->trace_events = LOOP_EVENTS + THREAD_CAPACITY;
}

void trace_window_apply_passing(struct probe_params *params, const struct failure *failure)
{
	params->trace_from = 0;
	params->trace_events = trace_window_is_long_loop(failure)
				       ? LOOP_EVENTS
				       : trace_window_events(failure->step_count * LONGER);
}

uint64_t trace_window_loop_limit(const struct finding *finding, uint64_t limit)
{
	const struct schedule_file *schedule = &finding->schedule;
	const uint64_t passing = finding->passing_step_count + finding->passing_steps_left_out;
	const uint64_t slice_start =
		failure_loop_start(schedule->segments, schedule->segment_count);
	uint64_t loop = limit / (passing ? LOOP_PART_KNOWN : LOOP_PART);

	/* If several threads alternate to the end, the beginning of the loop is unknown. */
	if (schedule->step_count > slice_start + loop)
		loop += slice_start;
	if (loop < PASSING_TIMES * passing)
		loop = PASSING_TIMES * passing;
	/* The state of this loop repeated before the limit. In other runs it may be compared later. */
	if (schedule->step_count < limit && loop < STATE_TIMES * schedule->step_count)
		loop = STATE_TIMES * schedule->step_count;
	return loop && loop < limit ? loop : limit;
}
