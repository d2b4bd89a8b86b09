/*
 * Detector `weak`: an access that a weaker memory model permits to come before a store which every
 * sequentially consistent execution orders before it. The engine judges the accesses
 * (engine/c11/robustness.h); the detector suppresses known pairs, and ends the run.
 */
#include "detectors/weak.h"

#include "detectors/detector.h"

static void weak_begin_run(void *block)
{
	(void)block; /* holds only suppressed pairs, which are those of all runs */
}

bool weak_ignore(void *block, struct race_pair pair)
{
	return race_pairs_add(block, pair);
}

static bool weak_observe(void *block, const struct detector_event *event, struct outcome *verdict)
{
	const struct missed_store *missed = &event->messages.missed;

	if (!missed->site || race_pairs_have(block, event->site, missed->site))
		return false;
	outcome_set(verdict, OUTCOME_WEAK, event->thread, missed->model);
	verdict->site = event->site;
	verdict->op = event->kind;
	verdict->address = event->address;
	verdict->other_site = missed->site;
	verdict->other_step = missed->step;
	verdict->other_thread = missed->writer;
	verdict->other_op = missed->op;
	return true;
}

const struct detector detector_weak = {
	.name = "weak",
	.summary = "an access that a weaker memory model permits to come before an earlier store",
	.state_bytes = sizeof(struct race_pairs),
	.begin_run = weak_begin_run,
	.observe = weak_observe,
};
