#include "investigate/trace_window.h"

/* 256 MB of events; what comes after is counted and said to be missing. */
#define EVENTS_MAX (UINT64_C(4) << 20)
/* 8 MB: far more rounds of a loop than anybody reads, and no matter beside the millions of steps that are run. */
#define LOOP_EVENTS (UINT64_C(1) << 17)
/* The failing run may have ended early. */
#define LONGER 4

/*
 * What goes on for this part of the limit is taken for endless where another one like it was seen to be, the smaller one where
 * it is known how many steps the program needs to pass: then it is very many times those, too.
 */
#define LOOP_PART 50
#define LOOP_PART_KNOWN 500
#define PASSING_TIMES 50

uint64_t trace_window_events(uint64_t step_count)
{
	/* A replay that leaves its schedule may be longer than it. */
	const uint64_t wanted = 2 * step_count + 4096;

	return wanted < EVENTS_MAX ? wanted : EVENTS_MAX;
}

static bool is_long_loop(const struct failure *failure)
{
	return failure->outcome.kind == OUTCOME_LIVELOCK && failure->step_count > LOOP_EVENTS;
}

/* Steps before the one thread that runs at the end has its last turn. */
static uint64_t steps_before_last_turn(const struct schedule_segment *segments, uint32_t count)
{
	uint64_t steps = 0, turn = 0;
	const struct schedule_segment *last = NULL;

	for (uint32_t i = 0; i < count; i++) {
		const struct schedule_segment *segment = &segments[i];

		if (segment->flags & SEGMENT_VALUE)
			continue;
		if (!last || last->thread != segment->thread)
			turn = steps;
		steps += segment->count;
		last = segment;
	}
	return turn;
}

void trace_window_apply(struct probe_params *params, const struct failure *failure)
{
	uint64_t from, turn;

	params->trace_events = trace_window_events(failure->step_count);
	params->trace_from = 0;
	if (!is_long_loop(failure))
		return;
	from = failure->step_count - LOOP_EVENTS;
	turn = steps_before_last_turn(failure->segments, failure->segment_count);
	if (turn < from + LOOP_EVENTS / 2)
		from = turn > LOOP_EVENTS / 2 ? turn - LOOP_EVENTS / 2 : 0;
	params->trace_from = from;
	params->trace_events = LOOP_EVENTS + THREAD_CAPACITY;
}

void trace_window_apply_passing(struct probe_params *params, const struct failure *failure)
{
	params->trace_from = 0;
	params->trace_events = is_long_loop(failure)
				       ? LOOP_EVENTS
				       : trace_window_events(failure->step_count * LONGER);
}

uint64_t trace_window_loop_limit(const struct finding *finding, uint64_t limit)
{
	const struct schedule_file *schedule = &finding->schedule;
	const uint64_t passing = finding->passing_step_count + finding->passing_steps_left_out;
	const uint64_t turn = steps_before_last_turn(schedule->segments, schedule->segment_count);
	uint64_t loop = limit / (passing ? LOOP_PART_KNOWN : LOOP_PART);

	/* Where threads take turns to the end, all steps may have led to it, or none. */
	if (schedule->step_count > turn + loop)
		loop += turn;
	if (loop < PASSING_TIMES * passing)
		loop = PASSING_TIMES * passing;
	return loop && loop < limit ? loop : limit;
}
