#include "analyses/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define ANALYSIS(name) &analysis_##name,
const struct analysis *const analyses[] = {
#include "analyses/analyses.def"
};
#undef ANALYSIS

const uint32_t analysis_count = sizeof analyses / sizeof *analyses;

struct trace_event *analysis_read_events(
	struct trace_reader *trace, uint32_t *total, struct error *err)
{
	struct trace_event *events = NULL;
	const struct trace_event *block;
	uint32_t capacity = 0, count;

	*total = 0;
	for (;;) {
		const int result = trace_reader_next(trace, &block, &count, err);

		if (result < 0) {
			free(events);
			return NULL;
		}
		if (!count && events)
			return events;
		while (*total + count >= capacity) {
			capacity = capacity ? 2 * capacity : 4096;
			events = array_resize(events, capacity, sizeof *events);
		}
		memcpy(events + *total, block, count * sizeof *events);
		*total += count;
		if (!count)
			return events;
	}
}
