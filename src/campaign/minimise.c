#include "campaign/minimise.h"

#include "base/bug.h"
#include "campaign/directives.h"
#include "platform/platform.h"

struct minimiser {
	const struct minimise_params *params;
	struct probe probe;
	struct failure *best;
	uint64_t begun_ns;
	bool is_over_budget;
};

static bool has_budget(struct minimiser *minimiser)
{
	if (!budget_allows(
		    &minimiser->params->budget, minimiser->probe.run_count, minimiser->begun_ns))
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

static bool shows_again(const struct minimiser *minimiser)
{
	const struct minimise_params *params = minimiser->params;

	return params->shows ? params->shows(params->shows_context, &minimiser->probe)
			     : probe_shows(&minimiser->probe, minimiser->best);
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
	*shows = !run->is_truncated && shows_again(minimiser);
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

/* What a run must be to become the best, compared to the best so far. */
enum improvement { NO_WORSE, BETTER };

/* As try_plan; a run that shows the failure and is good enough becomes the best. */
static int try_to_improve(struct minimiser *minimiser, const struct probe_plan *plan,
	enum improvement wanted, bool *is_taken, struct error *err)
{
	struct failure run = {0};
	bool shows = false;
	int result = try_plan(minimiser, plan, &shows, &run, err);

	*is_taken = result == 0 && shows &&
		    compare_cost(&run, minimiser->best) <= (wanted == BETTER ? -1 : 0);
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
		result = try_to_improve(minimiser, &plan, NO_WORSE, &is_taken, err);
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
	bool has_mended = false;
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
		if (has_mended && parted_at <= parted_last)
			break; /* what was added had no effect, or broke an earlier place */
		parted_last = parted_at;
		has_mended = true;
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
	result = try_to_improve(minimiser, &plan, NO_WORSE, is_taken, err);
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

/* ---- 4: segments elsewhere, or not at all ---- */

/* With so few segments every one of them is tried in every place: some thousand runs at most. */
#define MOVES_SEGMENTS_MAX 48

/* A change of a schedule: segment `from` goes to where segment `to` is, or away. */
struct move {
	uint32_t from;
	uint32_t to; /* as many as there are segments: to the end */
	bool is_drop;
};

static void append(struct failure *out, struct schedule_segment segment)
{
	struct schedule_segment *last = out->segments + out->segment_count - 1;

	if (out->segment_count && !((last->flags | segment.flags) & SEGMENT_VALUE) &&
		last->thread == segment.thread)
		last->count += segment.count;
	else
		out->segments[out->segment_count++] = segment;
}

/* The schedule after the move. What does not work out is followed as far as it goes. */
static struct probe_plan moved_plan(
	struct failure *out, const struct failure *failure, const struct move *move)
{
	failure_release(out);
	failure_copy(out, failure);
	out->segment_count = 0;
	for (uint32_t i = 0; i <= failure->segment_count; i++) {
		if (i == move->to && !move->is_drop)
			append(out, failure->segments[move->from]);
		if (i < failure->segment_count && i != move->from)
			append(out, failure->segments[i]);
	}
	return probe_plan_exact(out);
}

static bool is_of_thread(const struct failure *failure, uint32_t segment, uint16_t thread)
{
	return segment < failure->segment_count &&
	       !(failure->segments[segment].flags & SEGMENT_VALUE) &&
	       failure->segments[segment].thread == thread;
}

/* In a long schedule only moves to another segment of the same thread are tried: they join. */
static bool is_promising(const struct failure *failure, const struct move *move)
{
	uint16_t thread = failure->segments[move->from].thread;

	if (move->is_drop)
		return true;
	if (move->to == move->from || move->to == move->from + 1)
		return false; /* where it is */
	return failure->segment_count <= MOVES_SEGMENTS_MAX ||
	       is_of_thread(failure, move->to, thread) ||
	       (move->to > 0 && is_of_thread(failure, move->to - 1, thread));
}

static int try_move(
	struct minimiser *minimiser, const struct move *move, bool *is_better, struct error *err)
{
	struct failure moved = {0};
	struct probe_plan plan = moved_plan(&moved, minimiser->best, move);
	int result = try_to_improve(minimiser, &plan, BETTER, is_better, err);

	failure_release(&moved);
	return result;
}

/*
 * Directives can only be taken away; which of two threads goes first, or a detour over a third one,
 * is not theirs to change. *is_better: one move has improved the best run; then all is to be tried
 * again, for `best` is another schedule now.
 */
static int move_segments(struct minimiser *minimiser, bool *is_better, struct error *err)
{
	uint32_t count = minimiser->best->segment_count;

	*is_better = false;
	for (uint32_t from = 0; from < count; from++) {
		if (minimiser->best->segments[from].flags & SEGMENT_VALUE)
			continue;
		for (uint32_t to = 0; to <= count + 1; to++) {
			struct move move = {.from = from, .to = to, .is_drop = to == count + 1};
			int result;

			if (!is_promising(minimiser->best, &move))
				continue;
			if (!has_budget(minimiser))
				return 0;
			result = try_move(minimiser, &move, is_better, err);
			if (result < 0 || *is_better)
				return result;
		}
	}
	return 0;
}

/* Rounds of taking directives away and of moving segments, until neither helps. */
static int minimise_in_rounds(struct minimiser *minimiser, bool *is_found, struct error *err)
{
	struct directives directives = {0};
	bool is_better = true;
	int result = cut_to_prefix(minimiser, err);

	while (result == 0 && is_better) {
		is_better = false;
		result = find_directives(minimiser, &directives, is_found, err);
		if (result == 0 && *is_found)
			result = reduce(minimiser, &directives, err);
		if (result == 0)
			result = move_segments(minimiser, &is_better, err);
	}
	directives_release(&directives);
	return result;
}

int minimise(struct failure *failure, const struct minimise_params *params, bool *is_minimal,
	struct error *err)
{
	struct minimiser minimiser = {
		.params = params,
		.best = failure,
		.begun_ns = platform_monotonic_ns(),
	};
	bool is_found = false;
	int result;

	*is_minimal = false;
	if (failure->is_truncated)
		return 0; /* what is not recorded cannot be followed */
	result = probe_open(&minimiser.probe, &params->probe, err);
	if (result < 0)
		return result;
	result = minimise_in_rounds(&minimiser, &is_found, err);
	*is_minimal = result == 0 && is_found && !minimiser.is_over_budget;
	probe_close(&minimiser.probe);
	return result;
}
