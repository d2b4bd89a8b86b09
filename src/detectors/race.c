/* Detector `race`: an unordered pair of accesses to the same memory, one of them a write. */
#include "detectors/detector.h"

static size_t race_state_bytes(void)
{
	return sizeof(uint64_t);
}

static void race_begin_run(void *state)
{
	*(uint64_t *)state = 0;
}

static bool race_observe(void *state, const struct detector_event *event, struct outcome *verdict)
{
	(void)state;
	(void)event;
	(void)verdict;
	return false;
}

const struct detector detector_race = {
	.name = "race",
	.summary = "two unordered accesses to the same memory, one of them a write",
	.state_bytes = race_state_bytes,
	.begin_run = race_begin_run,
	.observe = race_observe,
};
