#include "investigate/minimise/minimise.h"

#include "investigate/minimise/coalesce.h"
#include "investigate/minimise/directives.h"
#include "investigate/minimise/moves.h"
#include "platform/platform.h"

struct minimiser {
	const struct minimise_params *params;
	struct probe probe;
	struct failure *best;
	uint64_t steps_most; /* longer runs become the best run only if they delay less */
	uint64_t begun_ns;
	bool is_over_budget;
	uint64_t runs;
	struct probe *made; /* the probe that made the last run */

	/* Plan of a later candidate in case the current one is rejected; NULL if not predictable. */
	bool (*ahead)(struct minimiser *minimiser, uint32_t ahead, struct probe_plan *plan);
	const struct probe_plan *plan; /* the current candidate */
	struct position {
		const struct failure *whole; /* state of minimise_cut_to_prefix() */
		uint32_t low, high, middle;
		const struct directives *directives; /* state of minimise_reduce() */
		uint32_t chunk, end;
		bool has_shrunk;
		uint32_t from, to; /* state of minimise_move_segments() */
	} at;
	struct directives fewer; /* plan buffers for later candidates */
	struct failure moved;
};

static bool minimise_has_budget(struct minimiser *minimiser)
{
	if (!budget_allows(&minimiser->params->budget, minimiser->runs, minimiser->begun_ns))
		minimiser->is_over_budget = true;
	return !minimiser->is_over_budget;
}

/* 0: no higher cost than the best run; negative: a lower cost. */
static bool minimise_is_better(
	const struct minimiser *minimiser, const struct failure *run, int wanted)
{
	return (run->step_count <= minimiser->steps_most ||
		       failure_compare_delays(run, minimiser->best) < 0) &&
	       failure_compare_cost(run, minimiser->best) <= wanted;
}

/* Takes the contents of `run`. */
static void minimise_set_best(struct minimiser *minimiser, struct failure *run)
{
	if (run->step_count > minimiser->steps_most)
		minimiser->steps_most = run->step_count; /* the run delays less */
	run->run_number = minimiser->best->run_number;
	failure_release(minimiser->best);
	*minimiser->best = *run;
}

static bool minimise_shows_again(const struct minimiser *minimiser)
{
	const struct minimise_params *params = minimiser->params;

	return params->shows ? params->shows(params->shows_context, minimiser->made)
			     : probe_shows(minimiser->made, minimiser->best);
}

static bool minimise_plan_of_sequence(void *context, uint32_t ahead, struct probe_plan *plan)
{
	struct minimiser *minimiser = context;

	if (!ahead)
		*plan = *minimiser->plan;
	else if (!minimiser->ahead || !minimiser->ahead(minimiser, ahead, plan))
		return false;
	plan->step_limit = failure_step_limit(minimiser->best, minimiser->steps_most);
	return true;
}

static int minimise_make_run(
	struct minimiser *minimiser, const struct probe_plan *plan, struct error *err)
{
	const struct minimise_ahead *ahead = minimiser->params->ahead;
	const struct minimise_sequence sequence = {
		.number = minimiser->runs, .context = minimiser, .plan = minimise_plan_of_sequence};
	struct probe_plan limited;
	int result;

	minimiser->plan = plan;
	minimiser->made = &minimiser->probe;
	(void)minimise_plan_of_sequence(minimiser, 0, &limited); /* candidate 0 always exists */
	result = ahead ? ahead->run(ahead->context, &minimiser->probe, &sequence, &minimiser->made,
				 err)
		       : probe_run(&minimiser->probe, &limited, err);
	minimiser->runs += result == 0;
	return result;
}

/* Discards speculative runs: the later candidates have changed. */
static void minimise_turn(struct minimiser *minimiser)
{
	const struct minimise_ahead *ahead = minimiser->params->ahead;

	if (ahead)
		ahead->turn(ahead->context);
}

/* Makes one run. *run receives it; *shows: the run shows the same failure. */
static int minimise_try_plan(struct minimiser *minimiser, const struct probe_plan *plan,
	bool *shows, struct failure *run, struct error *err)
{
	int result = minimise_make_run(minimiser, plan, err);

	if (result < 0)
		return result;
	failure_take(run, minimiser->made->worker.contract);
	*shows = !run->is_truncated && minimise_shows_again(minimiser);
	if (minimiser->params->progress)
		minimiser->params->progress(minimiser->params->context,
			&(struct minimise_progress){.runs = minimiser->runs,
				.preemptions = minimiser->best->preemptions,
				.switches = minimiser->best->switches});
	return 0;
}

/* Condition for a run to become the best, compared to the best so far. */
enum improvement { NO_WORSE, BETTER };

/* Does what minimise_try_plan() does; a run that shows the failure and is good enough becomes the best
 * run. */
static int minimise_try_to_improve(struct minimiser *minimiser, const struct probe_plan *plan,
	enum improvement wanted, bool *is_taken, struct error *err)
{
	struct failure run = {0};
	bool shows = false;
	int result = minimise_try_plan(minimiser, plan, &shows, &run, err);

	*is_taken = result == 0 && shows &&
		    minimise_is_better(minimiser, &run, wanted == BETTER ? -1 : 0);
	if (*is_taken) {
		minimise_set_best(minimiser, &run);
		minimise_turn(minimiser);
	} else {
		failure_release(&run);
	}
	return result;
}

/* 0: a run without stalls and delayed stores, if the failure needs none. */

/* Most failures that need no delay show within this many random runs. */
#define DELAY_FREE_RUNS 64
/* Of a failure with several delays, most need only one. Fewer random runs show it so. */
#define SINGLE_DELAY_RUNS 2048

/* Removing delays one by one may end at a run that needs a delay only for its other choices. */
static int minimise_without_delays(struct minimiser *minimiser, struct error *err)
{
	const struct probe_plan plan = {.strategy = &strategy_pos};
	bool is_taken = false;
	int result = 0;

	for (unsigned i = 0;
		result == 0 && (minimiser->best->stall_count || minimiser->best->delayed_count) &&
		i < (minimiser->best->delayed_count > 1 ? SINGLE_DELAY_RUNS : DELAY_FREE_RUNS) &&
		minimise_has_budget(minimiser);
		i++)
		result = minimise_try_to_improve(minimiser, &plan, BETTER, &is_taken, err);
	return result;
}

/* 1: the shortest prefix that is needed, the rest without preemptions. */

static bool minimise_predict_cut(
	struct minimiser *minimiser, uint32_t ahead, struct probe_plan *plan)
{
	const struct position *at = &minimiser->at;
	uint32_t low = at->low, middle = at->middle;

	while (ahead-- && low < at->high) {
		low = middle + 1;
		middle = low + (at->high - low) / 2;
	}
	*plan = probe_plan_exact(at->whole);
	plan->segment_count = middle;
	return low < at->high;
}

static int minimise_cut_to_prefix(struct minimiser *minimiser, struct error *err)
{
	struct failure whole = {0};
	struct probe_plan plan;
	uint32_t low = 0;
	uint32_t high = minimiser->best->segment_count;
	bool is_taken;
	int result = 0;

	failure_copy(&whole, minimiser->best);
	plan = probe_plan_exact(&whole);
	minimiser->ahead = minimise_predict_cut;
	/* Tries the empty prefix first, then bisects. */
	for (uint32_t middle = 0; low < high && minimise_has_budget(minimiser);
		middle = low + (high - low) / 2) {
		plan.segment_count = middle;
		minimiser->at = (struct position){
			.whole = &whole, .low = low, .high = high, .middle = middle};
		result = minimise_try_to_improve(minimiser, &plan, NO_WORSE, &is_taken, err);
		if (result < 0)
			break;
		if (is_taken)
			high = middle;
		else
			low = middle + 1;
	}
	minimiser->ahead = NULL;
	minimise_turn(minimiser);
	failure_release(&whole);
	return result;
}

/* 2: in a long schedule, blocks with the steps of each thread together. */

static int minimise_coalesce_segments(struct minimiser *minimiser, struct error *err)
{
	struct coalesce_block block;
	bool is_there = coalesce_first(minimiser->best, &block);
	int result = 0;

	while (is_there && result == 0 && minimise_has_budget(minimiser)) {
		struct failure joined = {0};
		struct probe_plan plan = coalesce_plan(&joined, minimiser->best, &block);
		bool is_taken;

		result = minimise_try_to_improve(minimiser, &plan, BETTER, &is_taken, err);
		failure_release(&joined);
		is_there = coalesce_next(minimiser->best, &block, is_taken);
	}
	return result;
}

/* 3: directives that show the failure. */

static struct probe_plan minimise_loose_plan(
	const struct directives *directives, const struct failure *values)
{
	return (struct probe_plan){
		.mode = REPLAY_LOOSE,
		.segments = values->segments, /* the replay reads only the value choices */
		.segment_count = values->segment_count,
		.directives = directives->items,
		.directive_count = directives->count,
	};
}

/* Preemptions first; each run adds the first missing switch at a wait, until the failure shows. */
static int minimise_find_directives(struct minimiser *minimiser, struct directives *directives,
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
	while (minimise_has_budget(minimiser)) {
		struct probe_plan plan = minimise_loose_plan(directives, &wanted);

		result = minimise_try_plan(minimiser, &plan, is_found, &run, err);
		if (result < 0 || *is_found)
			break;
		if (!directives_mend(directives, &wanted, &run, &parted_at))
			break; /* same steps but no failure: no directive can be added */
		if (has_mended && parted_at <= parted_last)
			break; /* the added directive had no effect, or broke an earlier step */
		parted_last = parted_at;
		has_mended = true;
	}
	if (result == 0 && *is_found && minimise_is_better(minimiser, &run, 0))
		minimise_set_best(minimiser, &run);
	else
		failure_release(&run);
	failure_release(&wanted);
	return result;
}

/* 4: ddmin. */

/* *is_taken: the failure still shows without the items [from, to), and they are removed. */
static int minimise_try_without(struct minimiser *minimiser, struct directives *directives,
	uint32_t from, uint32_t to, bool *is_taken, struct error *err)
{
	struct directives fewer = {0};
	struct probe_plan plan;
	int result;

	directives_without(&fewer, directives, from, to);
	plan = minimise_loose_plan(&fewer, minimiser->best);
	result = minimise_try_to_improve(minimiser, &plan, NO_WORSE, is_taken, err);
	if (result == 0 && *is_taken) {
		directives_release(directives);
		*directives = fewer;
	} else {
		directives_release(&fewer);
	}
	return result;
}

/* Predicts the chunks that follow if the items being tried have to stay. */
static bool minimise_predict_reduction(
	struct minimiser *minimiser, uint32_t ahead, struct probe_plan *plan)
{
	struct position at = minimiser->at;

	while (ahead--) {
		at.end = at.end > at.chunk ? at.end - at.chunk : 0;
		if (at.end)
			continue;
		if (at.chunk == 1 && !at.has_shrunk)
			return false;
		at.chunk = at.chunk > 1 ? (at.chunk + 1) / 2 : 1;
		at.end = at.directives->count;
		at.has_shrunk = false;
	}
	directives_release(&minimiser->fewer);
	directives_without(&minimiser->fewer, at.directives,
		at.end > at.chunk ? at.end - at.chunk : 0, at.end);
	*plan = minimise_loose_plan(&minimiser->fewer, minimiser->best);
	return true;
}

/* Removes chunks, from half of the list down to single items, until no single item can go. */
static int minimise_reduce(
	struct minimiser *minimiser, struct directives *directives, struct error *err)
{
	uint32_t chunk = (directives->count + 1) / 2;

	minimiser->ahead = minimise_predict_reduction;
	while (directives->count > 0) {
		bool has_shrunk = false;

		/* The loop starts at the end, where most switches lie that a failure does not need. */
		for (uint32_t end = directives->count; end > 0 && minimise_has_budget(minimiser);) {
			uint32_t start = end > chunk ? end - chunk : 0;
			bool is_taken;
			int result;

			minimiser->at = (struct position){.directives = directives,
				.chunk = chunk,
				.end = end,
				.has_shrunk = has_shrunk};
			result = minimise_try_without(
				minimiser, directives, start, end, &is_taken, err);
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

/* 5: segments moved or dropped. */

static bool minimise_predict_move(
	struct minimiser *minimiser, uint32_t ahead, struct probe_plan *plan)
{
	struct segment_move move = {.from = minimiser->at.from,
		.to = minimiser->at.to,
		.is_drop = minimiser->at.to == minimiser->best->segment_count + 1};

	while (ahead--)
		if (!move_next(minimiser->best, &move))
			return false;
	*plan = move_plan(&minimiser->moved, minimiser->best, &move);
	return true;
}

/*
 * Removing directives cannot change which of two threads runs first, nor a detour over a third.
 * After an improvement all phases start again.
 */
static int minimise_move_segments(struct minimiser *minimiser, bool *is_better, struct error *err)
{
	const struct failure *best = minimiser->best;
	struct segment_move move = {0};
	bool is_there = move_first(best, &move);
	int result = 0;

	*is_better = false;
	minimiser->ahead = minimise_predict_move;
	while (is_there && result == 0 && !*is_better && minimise_has_budget(minimiser)) {
		struct failure moved = {0};
		const struct probe_plan plan = move_plan(&moved, best, &move);

		minimiser->at = (struct position){.from = move.from, .to = move.to};
		result = minimise_try_to_improve(minimiser, &plan, BETTER, is_better, err);
		failure_release(&moved);
		is_there = !*is_better && move_next(best, &move);
	}
	return result;
}

/* 6: fewer stalled threads, shorter stalls. */

/* *is_better: the failure shows with less stalling if `thread` runs some steps before the stall. */
static int minimise_try_before_stall(struct minimiser *minimiser, uint32_t stall, uint16_t thread,
	bool *is_better, struct error *err)
{
	struct failure run = {0};
	int result = 0;

	for (uint32_t steps = 0; steps <= BEFORE_STALL_STEPS && result == 0 && !*is_better &&
				 minimise_has_budget(minimiser);
		steps++) {
		const struct probe_plan plan = move_plan_before_stall(
			&run, minimiser->best, stall, thread, steps ? steps : UINT32_MAX);

		result = minimise_try_to_improve(minimiser, &plan, BETTER, is_better, err);
	}
	failure_release(&run);
	return result;
}

/* After an improvement all phases start again. */
static int minimise_reduce_stalls(struct minimiser *minimiser, bool *is_better, struct error *err)
{
	const struct failure *best = minimiser->best;
	int result = 0;

	minimiser->ahead = NULL;
	minimise_turn(minimiser);
	for (uint32_t i = 0; i < best->segment_count && !*is_better; i++)
		for (uint32_t thread = 0; best->segments[i].flags & SEGMENT_STALLS &&
					  thread < best->thread_count && result == 0 && !*is_better;
			thread++)
			if (thread != best->segments[i].thread)
				result = minimise_try_before_stall(
					minimiser, i, (uint16_t)thread, is_better, err);
	return result;
}

/* Alternates between removing directives and moving segments until neither improves the run. */
static int minimise_in_rounds(struct minimiser *minimiser, struct error *err)
{
	struct directives directives = {0};
	bool is_better = true, is_found;
	int result = minimise_without_delays(minimiser, err);

	if (result == 0)
		result = minimise_cut_to_prefix(minimiser, err);
	if (result == 0)
		result = minimise_coalesce_segments(minimiser, err);
	while (result == 0 && is_better) {
		is_better = false;
		minimiser->ahead = NULL; /* the next plan depends on the result of this run */
		minimise_turn(minimiser);
		result = minimise_find_directives(minimiser, &directives, &is_found, err);
		if (result == 0 && is_found)
			result = minimise_reduce(minimiser, &directives, err);
		if (result == 0)
			result = minimise_move_segments(minimiser, &is_better, err);
		if (result == 0 && !is_better)
			result = minimise_reduce_stalls(minimiser, &is_better, err);
	}
	directives_release(&directives);
	return result;
}

int minimise(struct failure *failure, const struct minimise_params *params, const char **incomplete,
	struct error *err)
{
	struct minimiser minimiser = {
		.params = params,
		.best = failure,
		.steps_most = failure->step_count,
		.begun_ns = platform_monotonic_ns(),
	};
	int result;

	*incomplete = "the end of the run was not recorded";
	if (failure->is_truncated)
		return 0;
	result = probe_open(&minimiser.probe, &params->probe, err);
	if (result < 0)
		return result;
	result = minimise_in_rounds(&minimiser, err);
	*incomplete = result < 0		 ? "minimising was interrupted"
		      : minimiser.is_over_budget ? "minimising reached its limit of runs or time"
						 : NULL;
	directives_release(&minimiser.fewer);
	failure_release(&minimiser.moved);
	if (params->ahead)
		params->ahead->end(params->ahead->context);
	probe_close(&minimiser.probe);
	return result;
}
