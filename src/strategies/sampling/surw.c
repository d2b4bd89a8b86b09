/*
 * Strategy `surw`: selectively uniform random walk.
 *
 * Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform Concurrency Testing", ASPLOS 2025,
 * sections 3.1 (weights) and 3.2 (selection). Each run picks one object; the ops on it are
 * *interesting*. The thread that performs the next interesting op (the *intended* thread) is drawn
 * with a weight equal to its number of remaining interesting ops. Every order of the interesting
 * ops is then equally likely; all other ops are unrestricted. A thread that is not yet created
 * counts for its creator. At the creation, the weight and the intention are divided.
 *
 * Deviations from the paper:
 * - Earlier runs give the counts, for all objects at once and by stable thread name, instead of one
 *   profiling run. A varying estimate rises quickly by half of the difference and decreases slowly:
 *   an op that does not occur costs only another draw.
 * - An object that is used only under one lock is not picked: its order is that of the lock.
 * - Releases are not interesting, because a release follows its own acquisition. Creation, begin,
 *   end, join and detach of threads are not interesting, because their order is forced.
 * - Programs that block: if the intended thread is blocked and every enabled thread is at an
 *   interesting op, the intention is drawn again among the enabled threads. A thread at an
 *   interesting op has at least weight 1. Uniformity, which the paper proves without blocking, is
 *   approximated.
 * - The first run has no counts and is a random walk.
 * - Only the first runs of a round produce lessons: lessons are large, and the counts stabilise
 *   quickly.
 *
 * The code uses integer arithmetic only, because the target may have enabled floating-point traps.
 */
#include "strategies/sampling/surw_internal.h"

bool surw_may_interest(const struct pending_op *op)
{
	if (!op->object || op->flags & OP_RELEASE)
		return false;
	switch (op->kind) {
	case OP_THREAD_BEGIN:
	case OP_THREAD_CREATE:
	case OP_THREAD_EXIT:
	case OP_THREAD_JOIN:
	case OP_THREAD_DETACH:
		return false;
	default:
		return true;
	}
}

static inline bool surw_is_interesting(const struct surw *surw, const struct pending_op *op)
{
	return op->object == surw->object && surw_may_interest(op);
}

static void surw_expect(struct surw *surw)
{
	for (uint32_t i = 0; i < surw->threads.count; i++)
		surw->subtree[i] = 0;
	for (uint32_t i = 0; i < surw->pairs.count; i++)
		if ((object_name)surw->pairs.keys[i] == surw->object)
			surw->subtree[surw->pair_of[i].thread] += surw_expected(&surw->pair_of[i]);
	for (uint32_t i = surw->threads.count; i-- > 1;)
		if (surw->parent[i] != KEY_TABLE_NONE)
			surw->subtree[surw->parent[i]] += surw->subtree[i];
}

/* Picks an object among the shared ones that are not always used under one lock. */
static object_name surw_pick(struct surw *surw)
{
	uint32_t count = 0;
	uint32_t pick;

	for (uint32_t i = 0; i < surw->eligible_count; i++)
		count += !surw_is_guarded(&surw->object_of[surw->eligible[i]]);
	if (!count)
		return 0;
	pick = rng_below(&surw->rng, count);
	for (uint32_t i = 0; i < surw->eligible_count; i++)
		if (!surw_is_guarded(&surw->object_of[surw->eligible[i]]) && !pick--)
			return (object_name)surw->objects.keys[surw->eligible[i]];
	return 0;
}

static void surw_observe(void *state)
{
	struct surw *surw = state;

	surw->object = 0;
	surw->intended = THREAD_NONE;
	surw->known = 0;
	surw->is_exhausted = false;
	if (surw_teaches(surw))
		surw_begin_lesson(surw);
}

static void surw_begin_run(void *state, uint64_t seed)
{
	struct surw *surw = state;

	surw_observe(surw);
	rng_seed(&surw->rng, seed);
	surw->object = surw_pick(surw);
	surw_expect(surw);
}

/* Adds a new thread, whose learnt weight is subtracted from its creator's. */
static void surw_add_thread(struct surw *surw, const struct schedule_view *view, uint32_t thread)
{
	/* Between two scheduling points one thread moves: the current thread is the creator. */
	const uint32_t creator =
		thread && view->current.index < thread ? view->current.index : KEY_TABLE_NONE;
	const uint32_t learnt = key_table_find(&surw->threads, view->names[thread]);
	uint32_t held;

	surw->weight[thread] = 0;
	surw->held[thread] = (struct surw_locks){{0}};
	surw->is_exhausted = false;
	if (surw_teaches(surw))
		surw_add_thread_to_lesson(surw, thread, view->names[thread], creator);
	if (learnt == KEY_TABLE_NONE)
		return;
	surw->weight[thread] = surw->subtree[learnt];
	if (creator == KEY_TABLE_NONE || !surw->weight[thread])
		return;
	held = surw->weight[creator];
	if (surw->intended.index == creator && held &&
		rng_below(&surw->rng, held) < surw->weight[thread])
		surw->intended.index = (uint16_t)thread;
	surw->weight[creator] -= held < surw->weight[thread] ? held : surw->weight[thread];
}

static inline uint32_t surw_weight(
	const struct surw *surw, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	if (op->kind == OP_NONE)
		return 0; /* it ended with fewer ops than expected */
	if (!surw->weight[thread] && surw_is_interesting(surw, op))
		return 1;
	return surw->weight[thread];
}

static void surw_draw(struct surw *surw, const struct schedule_view *view, const uint64_t *among)
{
	uint64_t total = 0;
	uint64_t ticket;

	for (uint32_t i = 0; i < view->thread_count; i++)
		if (!among || bitset_has(among, i))
			total += surw_weight(surw, view, i);
	surw->intended = THREAD_NONE;
	surw->is_exhausted = !total;
	if (!total)
		return;
	ticket = rng_below64(&surw->rng, total);
	for (uint32_t i = 0; i < view->thread_count; i++) {
		uint32_t weight = 0;

		if (!among || bitset_has(among, i))
			weight = surw_weight(surw, view, i);
		if (ticket < weight) {
			surw->intended.index = (uint16_t)i;
			return;
		}
		ticket -= weight;
	}
}

/* `candidates`: the enabled threads that the intention does not delay. */
static uint32_t surw_collect(struct surw *surw, const struct schedule_view *view)
{
	const uint32_t word_count = BITSET_WORDS(view->thread_count);
	uint32_t count = 0;

	for (uint32_t word = 0; word < word_count; word++) {
		uint64_t kept = view->enabled[word];

		for (uint64_t rest = kept; rest; rest &= rest - 1) {
			const uint32_t thread = word * 64 + (uint32_t)__builtin_ctzll(rest);

			if (thread != surw->intended.index &&
				surw_is_interesting(surw, &view->pending[thread]))
				kept &= ~(rest & -rest);
		}
		surw->candidates[word] = kept;
		count += (uint32_t)__builtin_popcountll(kept);
	}
	return count;
}

static struct thread_id surw_choose(void *state, const struct schedule_view *view)
{
	struct surw *surw = state;
	uint32_t count;

	while (surw->known < view->thread_count)
		surw_add_thread(surw, view, surw->known++);
	if (!surw->object || surw->is_exhausted || view->enabled_count == 1)
		return threads_draw(&surw->rng, view->enabled, view->enabled_count);
	if (surw->intended.index >= view->thread_count ||
		view->pending[surw->intended.index].kind == OP_NONE)
		surw_draw(surw, view, NULL);
	if (surw->is_exhausted)
		return threads_draw(&surw->rng, view->enabled, view->enabled_count);
	count = surw_collect(surw, view);
	if (count)
		return threads_draw(&surw->rng, surw->candidates, count);
	surw_draw(surw, view, view->enabled);
	return surw->intended;
}

static void surw_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct surw *surw = state;
	const struct pending_op *op = &view->pending[thread.index];

	while (surw->known < view->thread_count)
		surw_add_thread(surw, view, surw->known++);
	if (surw_teaches(surw))
		surw_note(surw, view, thread.index);
	if (!surw_may_interest(op))
		return;
	if (op->object != surw->object)
		return;
	if (surw->weight[thread.index])
		surw->weight[thread.index]--;
	surw->intended = THREAD_NONE;
}

const struct strategy strategy_surw = {
	.name = "surw",
	.summary =
		"chooses one shared object for each run and makes every order of the ops on it equally likely",
	.state_bytes = sizeof(struct surw),
	.begin_run = surw_begin_run,
	.choose = surw_choose,
	.executed = surw_executed,
	.end_run = surw_end_run,
	.learning = {.begin_position = surw_begin_position,
		.gather = surw_gather,
		.learn = surw_learn,
		.share = surw_share,
		.observe = surw_observe,
		.order_bits = surw_order_bits},
};
