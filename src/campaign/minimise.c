#include "campaign/minimise.h"

#include <time.h>

#include "base/bug.h"
#include "campaign/directives.h"

struct minimiser {
	const struct minimise_params *params;
	struct probe probe;
	struct failure *best;
	uint64_t deadline_ns;
	bool is_over_budget;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* a clock that always exists */
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static bool has_budget(struct minimiser *minimiser)
{
	if (minimiser->probe.run_count >= minimiser->params->run_limit ||
		now_ns() >= minimiser->deadline_ns)
		minimiser->is_over_budget = true;
	return !minimiser->is_over_budget;
}

/* Less to read: fewer preemptions, else fewer switches, else fewer steps. <0: a is better. */
static int compare_cost(const struct failure *a, const struct failure *b)
{
	if (a->preemptions != b->preemptions)
		return a->preemptions < b->preemptions ? -1 : 1;
	if (a->switches != b->switches)
		return a->switches < b->switches ? -1 : 1;
	return 0;
}

/* One run. *run, when not NULL, becomes what happened; *shows: it was the same failure. */
static int try_plan(struct minimiser *minimiser, const struct probe_plan *plan, bool *shows,
	struct failure *run, struct error *err)
{
	int result = probe_run(&minimiser->probe, plan, err);
	struct minimise_progress progress;

	if (result < 0)
		return result;
	failure_take(run, minimiser->probe.worker.contract);
	*shows = probe_shows(&minimiser->probe, minimiser->best) && !run->is_truncated;
	if (minimiser->params->progress) {
		progress = (struct minimise_progress){
			.runs = minimiser->probe.run_count,
			.preemptions = minimiser->best->preemptions,
			.switches = minimiser->best->switches,
		};
		minimiser->params->progress(minimiser->params->context, &progress);
	}
	return 0;
}

/* As try_plan; a run that shows the failure at no higher cost becomes the best. */
static int try_to_improve(struct minimiser *minimiser, const struct probe_plan *plan,
	bool *is_taken, struct error *err)
{
	struct failure run = {0};
	bool shows = false;
	int result = try_plan(minimiser, plan, &shows, &run, err);

	*is_taken = result == 0 && shows && compare_cost(&run, minimiser->best) <= 0;
	if (*is_taken) {
		run.run_number = minimiser->best->run_number;
		failure_release(minimiser->best);
		*minimiser->best = run;
	} else {
		failure_release(&run);
	}
	return result;
}

/* ---- 1: how much of the beginning is needed, the rest without preemptions ---- */

static int cut_to_prefix(struct minimiser *minimiser, struct error *err)
{
	struct failure whole = {0};
	struct probe_plan plan;
	uint32_t low = 0;
	uint32_t high = minimiser->best->segment_count;
	bool is_taken;
	int result = 0;

	failure_copy(&whole, minimiser->best);
	plan = probe_plan_exact(&whole);
	/* The first question is for nothing at all; then the middle, as in any bisection. */
	for (uint32_t middle = 0; low < high && has_budget(minimiser);
		middle = low + (high - low) / 2) {
		plan.segment_count = middle;
		result = try_to_improve(minimiser, &plan, &is_taken, err);
		if (result < 0)
			break;
		if (is_taken)
			high = middle;
		else
			low = middle + 1;
	}
	failure_release(&whole);
	return result;
}

/* ---- 2: directives that show the failure ---- */

static struct probe_plan loose_plan(
	const struct directives *directives, const struct failure *values)
{
	return (struct probe_plan){
		.mode = REPLAY_LOOSE,
		.segments = values->segments, /* only the value choices are read */
		.segment_count = values->segment_count,
		.directives = directives->items,
		.directive_count = directives->count,
	};
}

/*
 * Starts with the preemptions alone and adds, run by run, the first missing switch at a wait.
 * Mostly the failure shows long before the schedule is followed to its end. *is_found: it showed.
 */
static int find_directives(struct minimiser *minimiser, struct directives *directives,
	bool *is_found, struct error *err)
{
	struct failure wanted = {0};
	struct failure run = {0};
	uint64_t parted_last = 0;
	uint64_t parted_at;
	int result = 0;

	*is_found = false;
	failure_copy(&wanted, minimiser->best);
	directives_from_preemptions(directives, &wanted);
	while (has_budget(minimiser)) {
		struct probe_plan plan = loose_plan(directives, &wanted);

		result = try_plan(minimiser, &plan, is_found, &run, err);
		if (result < 0 || *is_found)
			break;
		if (!directives_mend(directives, &wanted, &run, &parted_at))
			break; /* the same steps and no failure: nothing to be had here */
		if (parted_at < parted_last)
			break; /* mending one place broke an earlier one */
		parted_last = parted_at;
	}
	if (result == 0 && *is_found && compare_cost(&run, &wanted) <= 0) {
		run.run_number = wanted.run_number;
		failure_release(minimiser->best);
		*minimiser->best = run;
		run = (struct failure){0};
	}
	failure_release(&run);
	failure_release(&wanted);
	return result;
}

/* ---- 3: ddmin ---- */

/* Tries to do without items [from, to); *is_taken: it worked and they are gone. */
static int try_without(struct minimiser *minimiser, struct directives *directives, uint32_t from,
	uint32_t to, bool *is_taken, struct error *err)
{
	struct directives fewer = {0};
	struct probe_plan plan;
	int result;

	directives_without(&fewer, directives, from, to);
	plan = loose_plan(&fewer, minimiser->best);
	result = try_to_improve(minimiser, &plan, is_taken, err);
	if (result == 0 && *is_taken) {
		directives_release(directives);
		*directives = fewer;
	} else {
		directives_release(&fewer);
	}
	return result;
}

/* Chunks from half of the list down to single items; ends when no single one can go. */
static int reduce(struct minimiser *minimiser, struct directives *directives, struct error *err)
{
	uint32_t chunk = (directives->count + 1) / 2;

	while (directives->count > 0) {
		bool has_shrunk = false;

		/* From the end: what a failure does not need is mostly what came after it. */
		for (uint32_t end = directives->count; end > 0 && has_budget(minimiser);) {
			uint32_t start = end > chunk ? end - chunk : 0;
			bool is_taken;
			int result = try_without(minimiser, directives, start, end, &is_taken, err);

			if (result < 0)
				return result;
			has_shrunk |= is_taken;
			end = start;
		}
		if (minimiser->is_over_budget || (chunk == 1 && !has_shrunk))
			break;
		if (chunk > 1)
			chunk = (chunk + 1) / 2;
	}
	return 0;
}

int minimise(struct failure *failure, const struct minimise_params *params, bool *is_minimal,
	struct error *err)
{
	struct minimiser minimiser = {
		.params = params,
		.best = failure,
		.deadline_ns = now_ns() + params->time_limit_ns,
	};
	struct directives directives = {0};
	bool is_found = false;
	int result;

	*is_minimal = false;
	if (failure->is_truncated)
		return 0; /* what is not recorded cannot be followed */
	result = probe_open(&minimiser.probe, &params->probe, err);
	if (result < 0)
		return result;
	result = cut_to_prefix(&minimiser, err);
	if (result == 0)
		result = find_directives(&minimiser, &directives, &is_found, err);
	if (result == 0 && is_found)
		result = reduce(&minimiser, &directives, err);
	*is_minimal = result == 0 && is_found && !minimiser.is_over_budget;
	directives_release(&directives);
	probe_close(&minimiser.probe);
	return result;
}
