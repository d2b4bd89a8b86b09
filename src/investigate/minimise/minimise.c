#include "investigate/minimise/minimise.h"

#include "investigate/minimise/coalesce.h"
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
		struct coalesce_block block; /* state of minimise_coalesce_segments() */
		uint32_t from, to;	     /* state of minimise_move_segments() */
	} at;
	struct failure changed; /* plan buffer for later candidates */
};

static bool minimise_has_budget(struct minimiser *minimiser)
{
	if (!budget_allows(&minimiser->params->budget, minimiser->runs, minimiser->begun_ns))
		minimiser->is_over_budget = true;
	return !minimiser->is_over_budget;
}

/* 0: no higher cost than the best run; negative: a lower cost. Of equal runs, the one with fewer steps
 * inside its preemptions shows more clearly which steps the failure needs there. */
static bool minimise_is_better(
	const struct minimiser *minimiser, const struct failure *run, int wanted)
{
	const struct failure *best = minimiser->best;
	int order = failure_compare_cost(run, best);

	if (!order && run->window_steps != best->window_steps)
		order = run->window_steps < best->window_steps ? -1 : 1;
	return (run->step_count <= minimiser->steps_most ||
		       failure_compare_delays(run, best) < 0) &&
	       order <= wanted;
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

/* What a run must be, compared with the best run so far, to replace it. */
enum improvement { NO_WORSE, BETTER };

/* Makes one run by the plan. If it shows the failure, and is as good as `wanted` says, it becomes the best run
 * and *is_taken is true. */
static int minimise_try_to_improve(struct minimiser *minimiser, const struct probe_plan *plan,
	enum improvement wanted, bool *is_taken, struct error *err)
{
	struct failure run = {0};
	int result = minimise_make_run(minimiser, plan, err);

	*is_taken = false;
	if (result < 0)
		return result;
	failure_take(&run, minimiser->made->worker.contract);
	*is_taken = !run.is_truncated && minimise_shows_again(minimiser) &&
		    minimise_is_better(minimiser, &run, wanted == BETTER ? -1 : 0);
	if (minimiser->params->progress)
		minimiser->params->progress(minimiser->params->context,
			&(struct minimise_progress){.runs = minimiser->runs,
				.preemptions = minimiser->best->preemptions,
				.switches = minimiser->best->switches});
	if (*is_taken) {
		minimise_set_best(minimiser, &run);
		minimise_turn(minimiser);
	} else {
		failure_release(&run);
	}
	return 0;
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

/* 2: blocks with the steps of each thread together. */

/* Plans the next blocks in advance, on the assumption that joining the current one does not help. */
static bool minimise_predict_block(
	struct minimiser *minimiser, uint32_t ahead, struct probe_plan *plan)
{
	struct coalesce_block block = minimiser->at.block;

	while (ahead--)
		if (!coalesce_next(minimiser->best, &block, false))
			return false;
	failure_release(&minimiser->changed);
	*plan = coalesce_plan(&minimiser->changed, minimiser->best, &block);
	return true;
}

static int minimise_coalesce_segments(struct minimiser *minimiser, struct error *err)
{
	struct coalesce_block block;
	bool is_there = coalesce_first(minimiser->best, &block);
	int result = 0;

	minimiser->ahead = minimise_predict_block;
	while (is_there && result == 0 && minimise_has_budget(minimiser)) {
		struct failure joined = {0};
		const struct probe_plan plan = coalesce_plan(&joined, minimiser->best, &block);
		bool is_taken;

		minimiser->at = (struct position){.block = block};
		result = minimise_try_to_improve(minimiser, &plan, BETTER, &is_taken, err);
		failure_release(&joined);
		is_there = coalesce_next(minimiser->best, &block, is_taken);
	}
	return result;
}

/* 3: segments moved or dropped. */

static bool minimise_predict_move(
	struct minimiser *minimiser, uint32_t ahead, struct probe_plan *plan)
{
	struct segment_move move = {.from = minimiser->at.from,
		.to = minimiser->at.to,
		.is_drop = minimiser->at.to == minimiser->best->segment_count + 1};

	while (ahead--)
		if (!move_next(minimiser->best, &move))
			return false;
	*plan = move_plan(&minimiser->changed, minimiser->best, &move);
	return true;
}

/*
 * Joining segments cannot change which of two threads runs first. Nor can it remove a switch to a third
 * thread between them.
 * After an improvement this phase and the next start again.
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

/* 4: fewer stalled threads, shorter stalls. */

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

/* After an improvement the previous phase starts again. */
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

/* Alternates between moving segments and reducing stalls until neither improves the run. */
static int minimise_in_rounds(struct minimiser *minimiser, struct error *err)
{
	bool is_better = true;
	int result = minimise_without_delays(minimiser, err);

	if (result == 0)
		result = minimise_cut_to_prefix(minimiser, err);
	if (result == 0)
		result = minimise_coalesce_segments(minimiser, err);
	while (result == 0 && is_better) {
		is_better = false;
		minimise_turn(minimiser);
		result = minimise_move_segments(minimiser, &is_better, err);
		if (result == 0 && !is_better)
			result = minimise_reduce_stalls(minimiser, &is_better, err);
	}
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
	failure_release(&minimiser.changed);
	if (params->ahead)
		params->ahead->end(params->ahead->context);
	probe_close(&minimiser.probe);
	return result;
}
