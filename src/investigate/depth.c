#include "investigate/depth.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "platform/platform.h"

/* One fall per switch and per thread with a higher priority; more are not worth measuring. */
#define FALLS_MAX (UINT32_C(1) << 16)

/* Up to this many falls, single ones are tried at once; of threads, each as initially lowest. */
#define FEW 8

/* Initial priorities (order: from the highest down) and later falls to the lowest priority. */
struct priorities {
	thread_name *order;
	uint32_t thread_count;
	struct replay_fall *falls;
	uint32_t fall_count;
};

struct measuring {
	const struct depth_params *params;
	const struct failure *failure;
	struct probe probe;
	uint64_t begun_ns;
	bool is_over_budget;
	struct priorities best; /* the failure shows under these */
	struct depth depth;	/* depth of the best priorities */
	struct failure run;	/* run of the best priorities */
};

static void depth_priorities_copy(
	struct priorities *to, const struct priorities *from, uint32_t skip)
{
	const uint32_t kept = from->fall_count - skip;

	*to = (struct priorities){.thread_count = from->thread_count, .fall_count = kept};
	to->order = array_new(from->thread_count + 1, sizeof *to->order);
	to->falls = array_new(kept + 1, sizeof *to->falls);
	memcpy(to->order, from->order, from->thread_count * sizeof *to->order);
	memcpy(to->falls, from->falls + skip, kept * sizeof *to->falls);
}

static void depth_priorities_release(struct priorities *priorities)
{
	free(priorities->order);
	free(priorities->falls);
	*priorities = (struct priorities){0};
}

static void depth_move_to_end(struct priorities *priorities, thread_name thread)
{
	uint32_t at = 0;

	while (at < priorities->thread_count && priorities->order[at] != thread)
		at++;
	if (at == priorities->thread_count)
		return;
	memmove(priorities->order + at, priorities->order + at + 1,
		(priorities->thread_count - at - 1) * sizeof *priorities->order);
	priorities->order[priorities->thread_count - 1] = thread;
}

/* Keeps the last `kept` falls. The removed falls are applied to the initial order instead. */
static void depth_keep_last(struct priorities *out, const struct priorities *all, uint32_t kept)
{
	depth_priorities_copy(out, all, all->fall_count - kept);
	for (uint32_t i = 0; i < all->fall_count - kept; i++)
		depth_move_to_end(out, all->falls[i].thread);
}

static void depth_without(
	struct priorities *out, const struct priorities *from, uint32_t first, uint32_t count)
{
	depth_priorities_copy(out, from, 0);
	memmove(out->falls + first, out->falls + first + count,
		(out->fall_count - first - count) * sizeof *out->falls);
	out->fall_count -= count;
}

static bool depth_has_budget(struct measuring *measuring)
{
	if (!budget_allows(
		    &measuring->params->budget, measuring->probe.run_count, measuring->begun_ns))
		measuring->is_over_budget = true;
	return !measuring->is_over_budget;
}

/* Takes ownership of `priorities`, which become the best if the failure shows. */
static int depth_try_priorities(
	struct measuring *measuring, struct priorities *priorities, bool *shows, struct error *err)
{
	const struct replay_state *state = contract_strategy(measuring->probe.worker.contract);
	const struct probe_plan plan = {
		.mode = REPLAY_PRIORITY,
		.segments =
			measuring->failure->segments, /* the replay reads only the value choices */
		.segment_count = measuring->failure->segment_count,
		.falls = priorities->falls,
		.fall_count = priorities->fall_count,
		.names = priorities->order,
		.name_count = priorities->thread_count,
	};
	int result = probe_run(&measuring->probe, &plan, err);

	*shows = result == 0 && probe_shows(&measuring->probe, measuring->failure);
	if (!*shows) {
		depth_priorities_release(priorities);
		return result;
	}
	depth_priorities_release(&measuring->best);
	measuring->best = *priorities;
	failure_take(&measuring->run, measuring->probe.worker.contract);
	measuring->depth = (struct depth){
		.depth = state->falls_used + 1,
		.radius = (uint32_t)(state->last_fall - state->first_fall),
	};
	return 0;
}

/* *is_done: the schedule could be followed and its falls recorded. */
static int depth_record_falls(
	struct measuring *measuring, struct priorities *out, bool *is_done, struct error *err)
{
	const struct failure *failure = measuring->failure;
	struct replay_state *state = contract_strategy(measuring->probe.worker.contract);
	struct replay_fall *room = array_new(FALLS_MAX, sizeof *room);
	struct probe_plan plan = probe_plan_exact(failure);
	struct priorities recorded;
	int result;

	plan.mode = REPLAY_RECORD;
	plan.falls = room;
	plan.fall_count = FALLS_MAX;
	plan.names = failure->names;
	plan.name_count = failure->thread_count;
	result = probe_run(&measuring->probe, &plan, err);
	*is_done = result == 0 && !measuring->probe.has_diverged &&
		   probe_shows(&measuring->probe, failure);
	if (*is_done) {
		recorded = (struct priorities){.order = failure->names,
			.thread_count = failure->thread_count,
			.falls = replay_falls(state),
			.fall_count = state->falls_used};
		depth_priorities_copy(out, &recorded, 0);
	}
	free(room);
	return result;
}

/* Suffixes of 0, 1, 2, 4, ... falls. */
static int depth_cut_beginning(
	struct measuring *measuring, const struct priorities *all, struct error *err)
{
	bool shows = false;
	int result = 0;

	for (uint32_t kept = 0; result == 0 && !shows && depth_has_budget(measuring);
		kept = kept ? 2 * kept : 1) {
		struct priorities end;
		const bool is_whole = kept >= all->fall_count;

		depth_keep_last(&end, all, is_whole ? all->fall_count : kept);
		result = depth_try_priorities(measuring, &end, &shows, err);
		if (is_whole)
			break;
	}
	return result;
}

/* Tries to remove falls, with `lowest` as the initially lowest thread (0: unchanged order). */
static int depth_drop_with(struct measuring *measuring, uint32_t first, uint32_t count,
	thread_name lowest, bool *is_dropped, struct error *err)
{
	struct priorities fewer;

	depth_without(&fewer, &measuring->best, first, count);
	if (lowest)
		depth_move_to_end(&fewer, lowest);
	return depth_try_priorities(measuring, &fewer, is_dropped, err);
}

/* Tries also other initial orders: its thread lowest, or, with few threads, each. */
static int depth_drop(struct measuring *measuring, uint32_t first, uint32_t count, bool *is_dropped,
	struct error *err)
{
	const thread_name own = measuring->best.falls[first].thread;
	const uint32_t thread_count = measuring->best.thread_count;
	int result = depth_drop_with(measuring, first, count, 0, is_dropped, err);

	if (count > 1)
		return result;
	if (result == 0 && !*is_dropped)
		result = depth_drop_with(measuring, first, 1, own, is_dropped, err);
	for (uint32_t i = 0; i < thread_count && thread_count <= FEW && result == 0 && !*is_dropped;
		i++)
		if (measuring->best.order[i] != own)
			result = depth_drop_with(
				measuring, first, 1, measuring->best.order[i], is_dropped, err);
	return result;
}

/* Chunks from half of the falls down to single ones, those far from the failure first. */
static int depth_reduce(struct measuring *measuring, struct error *err)
{
	uint32_t chunk = measuring->best.fall_count > FEW ? measuring->best.fall_count / 2 : 1;
	bool has_shrunk = true;

	while (chunk > 0 && (chunk > 1 || has_shrunk) && depth_has_budget(measuring)) {
		has_shrunk = false;
		for (uint32_t first = 0;
			first < measuring->best.fall_count && depth_has_budget(measuring);) {
			const uint32_t left = measuring->best.fall_count - first;
			bool is_dropped;
			int result = depth_drop(
				measuring, first, chunk < left ? chunk : left, &is_dropped, err);

			if (result < 0)
				return result;
			has_shrunk |= is_dropped;
			first += is_dropped ? 0 : chunk;
		}
		if (chunk > 1)
			chunk = measuring->best.fall_count > FEW ? chunk / 2 : 1;
	}
	return 0;
}

int depth_measure(struct depth *depth, struct failure *failure, const struct depth_params *params,
	struct error *err)
{
	struct measuring measuring = {
		.params = params,
		.failure = failure,
		.begun_ns = platform_monotonic_ns(),
	};
	struct priorities all = {0};
	bool is_done = false;
	int result;

	if (failure->is_truncated)
		return 0;
	result = probe_open(&measuring.probe, &params->probe, err);
	if (result < 0)
		return result;
	result = depth_record_falls(&measuring, &all, &is_done, err);
	if (result == 0 && is_done)
		result = depth_cut_beginning(&measuring, &all, err);
	if (result == 0 && measuring.depth.depth)
		result = depth_reduce(&measuring, err);
	if (result == 0 && measuring.depth.depth && !measuring.is_over_budget &&
		(!depth->depth || measuring.depth.depth < depth->depth))
		*depth = measuring.depth;
	if (measuring.depth.depth && !measuring.run.is_truncated &&
		failure_compare_cost(&measuring.run, failure) < 0) {
		measuring.run.run_number = failure->run_number;
		failure_release(failure);
		*failure = measuring.run;
		measuring.run = (struct failure){0};
	}
	failure_release(&measuring.run);
	depth_priorities_release(&all);
	depth_priorities_release(&measuring.best);
	probe_close(&measuring.probe);
	return result;
}

void depth_fit_to_schedule(struct depth *depth, const struct failure *failure)
{
	if (depth->depth > failure->preemptions + 1)
		*depth = (struct depth){0};
}
