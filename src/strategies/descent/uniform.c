/*
 * Strategy `uniform`: makes every order of dependent ops about equally likely.
 *
 * A run is a random descent of the tree of orders (descent.h), as for `estimate`. Each order is one
 * leaf. At a branching each thread is drawn with its expected share of the orders, which follows
 * from the numbers of accesses that the threads have still to make. Where `surw` draws the order of
 * the ops on one object, a descent draws the orders on all objects. Orders of independent ops count
 * as one: a long run of private or guarded accesses changes no probability. If accesses to memory
 * are no ops, independent ops need not be independent: their order then changes at random.
 *
 * The idea of uniform sampling is that of Zhao, Wolff, Mathur, Roychoudhury, "Selectively Uniform
 * Concurrency Testing", ASPLOS 2025; the tree is that of P. Godefroid, "Partial-Order Methods for
 * the Verification of Concurrent Systems", 1996.
 *
 * Deviations:
 * - The accesses are learnt in rounds, from the first runs of a round. A run that performs unknown
 *   accesses follows sets that may be too small, so some of its orders are not drawn.
 * - Redundant paths, and runs with unknown threads, end as a random walk.
 */
#include "strategies/descent/descent.h"

#include <string.h>

#include "strategies/strategy.h"

#define TEACHING 16 /* the accesses change little after a few runs, and lessons are large */
#define STEPS_MOST 2048
/* Mean number of steps for which one thread comes first among the independent ones. */
#define LEAD_STEPS 3
/* Every branch keeps at least about this part of the probability, divided by the branches. */
#define EVEN_PART 32u

struct uniform_op {
	object_name object;
	uint16_t second;
	uint8_t kind, flags, thread;
};

/* The ops of a run. Threads are numbered as in the run. */
struct uniform_lesson {
	uint32_t step_count, thread_count; /* too many: not complete */
	thread_name names[DESCENT_SLOTS];
	uint8_t creators[DESCENT_SLOTS];
	struct uniform_op ops[STEPS_MOST];
};

struct uniform {
	uint32_t position; /* position of the run in its round */
	bool is_observing; /* another strategy makes the choices of this run */
	bool sees_memory;  /* accesses to memory are ops */
	struct descent tree;
	struct uniform_lesson lessons[TEACHING];
};

static void uniform_begin(struct uniform *uniform, bool is_observing)
{
	uniform->is_observing = is_observing;
	if (uniform->position < TEACHING)
		uniform->lessons[uniform->position].step_count =
			uniform->lessons[uniform->position].thread_count = 0;
}

static void uniform_observe(void *state)
{
	uniform_begin(state, true);
}

static void uniform_begin_run(void *state, uint64_t seed)
{
	struct uniform *uniform = state;

	rng_seed(&uniform->tree.rng, seed);
	descent_begin(&uniform->tree);
	uniform_begin(uniform, false);
}

/* Draws one of the branches; the earlier ones sleep from now on. */
static uint32_t uniform_draw(struct descent *tree, uint64_t branches)
{
	uint64_t shares[DESCENT_SLOTS];
	uint64_t sum = 0, ticket;
	uint32_t slot = 0;

	descent_expect(tree, branches, shares);
	for (uint64_t left = branches; left; left &= left - 1)
		sum += shares[__builtin_ctzll(left)];
	for (uint64_t left = branches; left; left &= left - 1)
		shares[__builtin_ctzll(left)] +=
			1 + sum / EVEN_PART / (uint32_t)__builtin_popcountll(branches);
	sum = 0;
	for (uint64_t left = branches; left; left &= left - 1)
		sum += shares[__builtin_ctzll(left)];
	ticket = rng_below64(&tree->rng, sum);
	for (uint64_t left = branches; left; left &= left - 1) {
		slot = (uint32_t)__builtin_ctzll(left);
		if (ticket < shares[slot])
			break;
		ticket -= shares[slot];
		tree->asleep |= descent_bit(slot);
	}
	return slot;
}

/* Ops that seem independent may be followed by accesses to the same memory, which are no ops. */
static void uniform_draw_first(struct uniform *uniform)
{
	struct descent *tree = &uniform->tree;

	if (!uniform->sees_memory && !rng_below(&tree->rng, LEAD_STEPS))
		tree->first = rng_below(&tree->rng, tree->slot_count);
}

static struct thread_id uniform_walk(struct descent *tree, const struct schedule_view *view)
{
	const uint32_t rank = rng_below(&tree->rng, view->enabled_count);

	return (struct thread_id){(uint16_t)bitset_select(view->enabled, rank)};
}

static struct thread_id uniform_choose(void *state, const struct schedule_view *view)
{
	struct descent *tree = &((struct uniform *)state)->tree;
	uint64_t branches;

	if (!tree->is_fixed || tree->is_lost || tree->is_blocked)
		return uniform_walk(tree, view);
	descent_read_view(tree, view);
	uniform_draw_first(state);
	branches = tree->is_unknown ? 0 : descent_branches(tree);
	tree->is_blocked = !branches;
	if (!branches)
		return uniform_walk(tree, view);
	tree->chosen = (uint32_t)__builtin_ctzll(branches);
	if (branches & (branches - 1))
		tree->chosen = uniform_draw(tree, branches);
	return (struct thread_id){tree->index_of[tree->chosen]};
}

static void uniform_note(
	struct uniform_lesson *lesson, const struct schedule_view *view, uint32_t thread)
{
	const struct pending_op *op = &view->pending[thread];

	for (; lesson->thread_count < view->thread_count; lesson->thread_count++)
		if (lesson->thread_count < DESCENT_SLOTS) {
			/* Between two scheduling points one thread moves: the creator. */
			lesson->names[lesson->thread_count] = view->names[lesson->thread_count];
			lesson->creators[lesson->thread_count] = (uint8_t)view->current.index;
		}
	if (lesson->step_count < STEPS_MOST && lesson->thread_count <= DESCENT_SLOTS)
		lesson->ops[lesson->step_count] = (struct uniform_op){.object = op->object,
			.second = op->second,
			.kind = op->kind,
			.flags = op->flags,
			.thread = (uint8_t)thread};
	lesson->step_count++;
}

static void uniform_executed(void *state, const struct schedule_view *view, struct thread_id thread)
{
	struct uniform *uniform = state;
	struct descent *tree = &uniform->tree;
	uint32_t slot;

	if (uniform->position < TEACHING)
		uniform_note(&uniform->lessons[uniform->position], view, thread.index);
	if (uniform->is_observing || !tree->is_fixed || tree->is_lost || tree->is_blocked)
		return;
	if (tree->chosen == DPOR_NONE)
		descent_read_view(tree, view);
	tree->chosen = DPOR_NONE;
	if (tree->is_unknown)
		return;
	slot = tree->slot_of[thread.index];
	descent_advance(tree, slot);
	descent_note_op(tree, slot);
}

/* ---- rounds ---- */

static void uniform_begin_position(void *state, uint32_t position)
{
	((struct uniform *)state)->position = position;
}

static bool uniform_is_complete(const struct uniform_lesson *lesson)
{
	return lesson->step_count <= STEPS_MOST && lesson->thread_count <= DESCENT_SLOTS;
}

static void uniform_gather(void *state, const void *other, uint32_t position, uint32_t count)
{
	const struct uniform *from = other;
	struct uniform *uniform = state;

	for (uint32_t i = position; i < position + count && i < TEACHING; i++) {
		const struct uniform_lesson *lesson = &from->lessons[i];
		const size_t ops = uniform_is_complete(lesson) ? lesson->step_count : 0;

		memcpy(&uniform->lessons[i], lesson,
			offsetof(struct uniform_lesson, ops) + ops * sizeof *lesson->ops);
	}
}

static void uniform_learn_run(struct uniform *uniform, const struct uniform_lesson *lesson)
{
	struct descent *tree = &uniform->tree;

	tree->is_lost |= lesson->thread_count > DESCENT_SLOTS;
	if (tree->is_lost || !lesson->step_count || !uniform_is_complete(lesson))
		return;
	descent_begin(tree);
	for (uint32_t i = 0; i < lesson->thread_count && !tree->is_lost; i++)
		(void)descent_add_thread(tree, lesson->names[i],
			lesson->creators[i] < i ? tree->slot_of[lesson->creators[i]]
						: 0); /* the slot is kept */
	for (uint32_t i = 0; i < lesson->step_count && !tree->is_lost; i++) {
		const struct uniform_op *op = &lesson->ops[i];
		const uint32_t slot = tree->slot_of[op->thread];

		descent_set_op(tree, slot,
			&(struct pending_op){.object = op->object,
				.second = op->second,
				.kind = op->kind,
				.flags = op->flags});
		descent_note_op(tree, slot);
		uniform->sees_memory |= op_descriptions[op->kind].object == OBJECT_MEMORY;
	}
	descent_end(tree);
}

static void uniform_learn(void *state, uint32_t count, uint32_t next)
{
	struct uniform *uniform = state;

	(void)next; /* nothing is planned */
	uniform->tree.is_fixed = false;
	for (uint32_t i = 0; i < count && i < TEACHING; i++)
		uniform_learn_run(uniform, &uniform->lessons[i]);
	uniform->tree.is_fixed = uniform->tree.descents;
}

static void uniform_share(void *state, const void *other)
{
	const struct uniform *from = other;
	struct uniform *uniform = state;
	struct descent *tree = &uniform->tree;

	uniform->sees_memory = from->sees_memory;
	memcpy(tree, &from->tree, offsetof(struct descent, access));
	for (uint32_t slot = 0; slot < tree->slot_count; slot++)
		memcpy(tree->access[slot], from->tree.access[slot], sizeof tree->access[slot]);
	memcpy(tree->writers, from->tree.writers, sizeof tree->writers);
	memcpy(tree->accessors, from->tree.accessors, sizeof tree->accessors);
}

static enum strategy_ability uniform_ability(const void *state)
{
	const struct uniform *uniform = state;

	if (!uniform->tree.is_fixed || uniform->tree.is_lost)
		return NOT_ABLE;
	return uniform->sees_memory ? ABLE : PARTLY_ABLE;
}

const struct strategy strategy_uniform = {
	.name = "uniform",
	.summary = "makes every order of dependent ops about equally likely",
	.state_bytes = sizeof(struct uniform),
	.begin_run = uniform_begin_run,
	.choose = uniform_choose,
	.executed = uniform_executed,
	.learning = {.begin_position = uniform_begin_position,
		.gather = uniform_gather,
		.learn = uniform_learn,
		.share = uniform_share,
		.observe = uniform_observe,
		.ability = uniform_ability},
};
