/*
 * Strategy `rff`: aims at reads-from pairs that few runs have shown.
 *
 * Wolff, Shi, Duck, Mathur, Roychoudhury, "Greybox Fuzzing for Concurrency Testing", ASPLOS 2024,
 * sections 3 and 4. An *event* is an op on an object at one location in the code, the n-th op of its
 * thread on this object, whichever thread executes it. A *pair* says which event was the last write
 * before an event. Each run draws up to three pairs as *constraints*, rare pairs preferably. It
 * delays the ops that would break a constraint: the second event until the first is executed, then
 * other writes until the second event is executed. All other choices are those of `pos`: random
 * priorities, drawn again after an op that depends on the thread's pending op.
 *
 * Deviations from the paper:
 * - Ops on all objects count, not only on memory. The pairs of a lock are the order of its
 *   acquisitions.
 * - An event names the rank of the op among its thread's ops on the object, beside the location. A
 *   pair says whether one thread executes both events.
 * - There is no corpus of schedules to mutate. Constraints are drawn independently, with a weight
 *   that falls with the square of the number of runs that showed the pair or aimed at it.
 * - A constraint ends if all enabled threads are delayed, or after RFF_PATIENCE delays.
 * - Only the first runs of a round produce lessons, as for `surw`.
 *
 * Only integer arithmetic: the target may have enabled floating-point traps.
 */
#include "strategies/sampling/rff_internal.h"

/* ---- constraints of the run ---- */

static uint64_t rff_weight(uint32_t count)
{
	const uint64_t rarity = 1 + (count < 255 ? count : 255);

	return (UINT64_C(1) << 20) / (rarity * rarity);
}

/* Returns the number of learning runs that showed this pair or aimed at it. */
static uint32_t rff_count(const struct rff *rff, uint32_t first, uint32_t second, bool is_own)
{
	const uint32_t pair = key_table_find(&rff->pairs, rff_pair_key(first, second, is_own));

	return pair == KEY_TABLE_NONE ? 0 : rff->count_of[pair];
}

/* Returns whether `first`, an event on the same object or RFF_START, can be the last write before
 * `second`. */
static bool rff_is_candidate(const struct rff *rff, uint32_t first, uint32_t second, bool is_own)
{
	if (first == RFF_START)
		return !is_own;
	return rff->event_of[first].is_write &&
	       (!is_own || rff->event_of[first].rank < rff->event_of[second].rank);
}

/* Returns the total weight of the pairs with this second event. Sets the constraint's pair to the
 * one at `ticket`, if `ticket` is below the total weight. */
static uint64_t rff_weigh(const struct rff *rff, uint64_t ticket, struct rff_constraint *constraint)
{
	const struct rff_object *object = &rff->object_of[rff->event_of[constraint->second].object];
	uint32_t first = object->first_event - 1u;
	uint64_t total = 0;

	/* All events on the object, and RFF_START, which is 0 - 1, as the last one. */
	for (bool is_last = false; !is_last;) {
		is_last = first == RFF_START;
		for (unsigned own = 0; own < 2; own++) {
			if (!rff_is_candidate(rff, first, constraint->second, own))
				continue;
			if (total <= ticket) {
				constraint->first = first;
				constraint->is_own = own;
			}
			total += rff_weight(rff_count(rff, first, constraint->second, own));
		}
		if (!is_last)
			first = rff->event_of[first].next - 1u;
	}
	return total;
}

static void rff_draw_constraint(struct rff *rff)
{
	struct rff_constraint *constraint = &rff->constraints[rff->constraint_count];
	const uint32_t second = rff->contended[rng_below(&rff->rng, rff->contended_count)];

	/* rff_prepare_threads() clears the ranks. */
	constraint->second = second;
	constraint->object = (object_name)rff->objects.keys[rff->event_of[second].object];
	(void)rff_weigh(rff, rng_below64(&rff->rng, rff_weigh(rff, 0, constraint)), constraint);
	constraint->state = constraint->first == RFF_START ? RFF_AWAITS_SECOND : RFF_AWAITS_FIRST;
	rff->constraint_count++;
}

static void rff_observe(void *state)
{
	struct rff *rff = state;

	rff->is_observing = true;
	rff->constraint_count = 0;
	if (rff_teaches(rff))
		rff_begin_lesson(rff);
}

static void rff_begin_run(void *state, uint64_t seed)
{
	struct rff *rff = state;

	rng_seed(&rff->rng, seed);
	rff->is_observing = false;
	rff->known = 0;
	rff->constraint_count = 0;
	rff->delays = 0;
	if (rff->contended_count)
		while (rff->constraint_count < RFF_CONSTRAINTS && rng_below(&rff->rng, 4))
			rff_draw_constraint(rff);
	if (rff_teaches(rff))
		rff_begin_lesson(rff);
}

/* ---- choice ---- */

static inline void rff_prepare_threads(struct rff *rff, const struct schedule_view *view)
{
	while (rff->known < view->thread_count) {
		for (uint32_t i = 0; i < rff->constraint_count; i++)
			rff->constraints[i].ranks[rff->known] = 0;
		rff->priority[rff->known++] = rng_next(&rff->rng);
	}
}

/* Returns whether the thread's pending op, on the constraint's object, is this event. */
static bool rff_matches(const struct rff *rff, const struct rff_constraint *constraint,
	uint32_t event, const struct pending_op *op, uint32_t thread)
{
	const uint32_t rank = constraint->ranks[thread];

	/* The key has the rank, too, but takes longer to compute. */
	return event != RFF_START && rff_is_rank(rff->event_of[event].rank, rank) &&
	       rff->events.keys[event] == rff_event_key(op, rank);
}

static bool rff_is_second(const struct rff *rff, const struct rff_constraint *constraint,
	const struct pending_op *op, uint32_t thread)
{
	return rff_matches(rff, constraint, constraint->second, op, thread) &&
	       (constraint->first == RFF_START ||
		       (constraint->writer == thread) == constraint->is_own);
}

/* Returns whether the thread's op would break the constraint. */
static bool rff_delays(const struct rff *rff, const struct rff_constraint *constraint,
	const struct pending_op *op, uint32_t thread)
{
	if (constraint->state == RFF_ENDED || op->object != constraint->object)
		return false;
	if (constraint->state == RFF_AWAITS_FIRST)
		return rff_matches(rff, constraint, constraint->second, op, thread) &&
		       !constraint->is_own;
	return rff_is_write(op) && !rff_is_second(rff, constraint, op, thread);
}

static bool rff_is_delayed(const struct rff *rff, const struct pending_op *op, uint32_t thread)
{
	for (uint32_t i = 0; i < rff->constraint_count; i++)
		if (rff_delays(rff, &rff->constraints[i], op, thread))
			return true;
	return false;
}

/* Returns the enabled thread with the highest priority. */
static uint32_t rff_highest(const struct rff *rff, const struct schedule_view *view)
{
	uint32_t chosen = view_next_enabled(view, 0);

	bitset_each (i, view->enabled, view->thread_count) {
		if (rff->priority[i] > rff->priority[chosen])
			chosen = i;
	}
	return chosen;
}

/* Returns the thread with the highest priority among the enabled threads that no constraint delays, or
 * KEY_TABLE_NONE if every enabled thread is delayed. */
static uint32_t rff_highest_free(const struct rff *rff, const struct schedule_view *view)
{
	uint32_t chosen = KEY_TABLE_NONE;

	bitset_each (i, view->enabled, view->thread_count) {
		if ((chosen == KEY_TABLE_NONE || rff->priority[i] > rff->priority[chosen]) &&
			!rff_is_delayed(rff, &view->pending[i], i))
			chosen = i;
	}
	return chosen;
}

static struct thread_id rff_choose(void *state, const struct schedule_view *view)
{
	struct rff *rff = state;
	uint32_t best;
	uint32_t chosen;

	rff_prepare_threads(rff, view);
	best = rff_highest(rff, view);
	if (view->enabled_count == 1 || rff->delays == RFF_PATIENCE ||
		!rff_is_delayed(rff, &view->pending[best], best))
		return (struct thread_id){(uint16_t)best};
	chosen = rff_highest_free(rff, view);
	rff->delays++;
	return (struct thread_id){(uint16_t)(chosen == KEY_TABLE_NONE ? best : chosen)};
}

/* ---- after the choice ---- */

static void rff_advance(struct rff *rff, struct rff_constraint *constraint,
	const struct pending_op *op, uint32_t thread)
{
	if (rff_delays(rff, constraint, op, thread))
		constraint->state = RFF_ENDED; /* broken */
	else if (constraint->state == RFF_AWAITS_SECOND &&
		 rff_is_second(rff, constraint, op, thread))
		constraint->state = RFF_ENDED; /* fulfilled */
	else if (constraint->state == RFF_AWAITS_FIRST &&
		 rff_matches(rff, constraint, constraint->first, op, thread)) {
		constraint->state = RFF_AWAITS_SECOND;
		constraint->writer = thread;
	}
	constraint->ranks[thread] += constraint->ranks[thread] < UINT8_MAX;
}

static void rff_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct rff *rff = state;
	const struct pending_op *op = &view->pending[thread.index];

	if (rff_teaches(rff))
		rff_note(rff, view, thread.index);
	if (rff->is_observing)
		return;
	rff_prepare_threads(rff, view);
	for (uint32_t i = 0; i < rff->constraint_count; i++)
		if (rff->constraints[i].state != RFF_ENDED &&
			op->object == rff->constraints[i].object && rff_may_race(op))
			rff_advance(rff, &rff->constraints[i], op, thread.index);
	bitset_each (i, view->enabled, op->object ? view->thread_count : 0) {
		if (op_dependent(op, &view->pending[i]))
			rff->priority[i] = rng_next(&rff->rng);
	}
	rff->priority[thread.index] = rng_next(&rff->rng);
}

const struct strategy strategy_rff = {
	.name = "rff",
	.summary = "aims at orders of conflicting ops that few earlier runs have shown",
	.state_bytes = sizeof(struct rff),
	.begin_run = rff_begin_run,
	.choose = rff_choose,
	.executed = rff_executed,
	.learning = {.begin_position = rff_begin_position,
		.gather = rff_gather,
		.learn = rff_learn,
		.share = rff_share,
		.observe = rff_observe},
};
