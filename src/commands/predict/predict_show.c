#include <string.h>

#include "base/search.h"
#include "commands/predict/predict_internal.h"

/* Number of steps shown around the locations of a candidate, and limit on the steps in between. */
#define STEPS_AROUND 20
#define STEPS_MOST 2000

static uint64_t predict_show_events_before(const struct recorded_run *run, uint64_t step)
{
	uint64_t low;

	SEARCH(low, 0, run->event_count, run->events[low].step < step);
	return low;
}

int predict_show_run(const struct predict *predict, uint32_t run, struct predict_span span,
	struct finding *out, struct error *err)
{
	struct finding_source source = predict_source(predict, run);
	const uint64_t first = span.first > STEPS_AROUND ? span.first - STEPS_AROUND : 0;
	const uint64_t begin = predict_show_events_before(&predict->runs[run], first);
	uint64_t end =
		predict_show_events_before(&predict->runs[run], span.last + STEPS_AROUND + 1);

	if (end - begin > STEPS_MOST)
		end = begin + STEPS_MOST;
	memset(out, 0, sizeof *out);
	if (end == begin)
		return 0;
	source.event_count = end;
	source.steps_most = (uint32_t)(end - begin); /* the difference is at most STEPS_MOST */
	return finding_build(out, &source, predict->symbols, err);
}

struct predict_span predict_span_of(const struct candidate *candidate, uint32_t run)
{
	struct predict_span span = {UINT64_MAX, 0};

	for (uint32_t i = 0; i < candidate->location_count; i++) {
		const struct candidate_location *location = &candidate->locations[i];
		const bool has_taken = location->taken.kind != OP_NONE;
		const uint64_t first = has_taken && location->taken.step < location->op.step
					       ? location->taken.step
					       : location->op.step;

		if (location->run != run)
			continue;
		if (first < span.first)
			span.first = first;
		if (location->op.step > span.last)
			span.last = location->op.step;
	}
	return span;
}
