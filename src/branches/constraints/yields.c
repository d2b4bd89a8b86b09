/*
 * Yields. The engine schedules a thread before a yield only after each other enabled thread has
 * made a step (engine/fairness.c). A schedule that violates this cannot be replayed. The constraint
 * for each yield and each other thread: let s be the other thread's first step that is not made
 * before the yielding thread's previous step. Then s happens before the yield, or s is blocked
 * then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/op.h"
#include "branches/constraints/solver.h"

#define STEPS_MOST 200

#define NONE UINT32_MAX

/* Edges of the order that may block steps. */
struct blockers {
	uint32_t **edges; /* number of the last edge to each event, by thread; NONE */
	uint32_t *next;	  /* number of another edge to the same event, by edge */
};

/* A step of another thread and the two steps before it; NONE if missing. */
struct pair {
	uint32_t last, before;
	struct event_id next;
};

struct yield {
	struct event_id at, before;
	bool is_before_window; /* the previous step lies before the window */
};

/* Returns the thread's last step among its events below `end`; NONE: none. */
static uint32_t yields_step_below(const struct solver *solver, uint16_t thread, uint32_t end)
{
	for (uint32_t i = end; i-- > 0;)
		if (event_is_step(&solver->walk->threads[thread].events[i]))
			return i;
	return NONE;
}

static void yields_open_blockers(const struct order *order, struct blockers *blockers)
{
	blockers->edges = array_new(order->thread_count + 1u, sizeof *blockers->edges);
	blockers->next = array_new(order->edge_count + 1u, sizeof *blockers->next);
	for (uint32_t i = 0; i < order->thread_count; i++) {
		const uint64_t count = order->walk->threads[i].count;

		blockers->edges[i] = array_new(count + 1, sizeof **blockers->edges);
		memset(blockers->edges[i], 0xff, count * sizeof **blockers->edges); /* NONE */
	}
	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct event_id id = order->edges[i].second;

		blockers->next[i] = blockers->edges[id.thread][id.index];
		blockers->edges[id.thread][id.index] = i;
	}
}

static void yields_close_blockers(const struct order *order, struct blockers *blockers)
{
	for (uint32_t i = 0; blockers->edges && i < order->thread_count; i++)
		free(blockers->edges[i]);
	free(blockers->edges);
	free(blockers->next);
}

static bool yields_is_leave(const struct solver *solver, struct event_id id)
{
	const struct record_op *op = walk_op_of(solver->walk, id);

	return op && op->kind == OP_BARRIER_LEAVE;
}

/* Returns whether the model does not know when the operation is enabled: it was never performed, or it
 * waits for time, which passes where all threads are blocked, or for something outside of the process. */
static bool yields_is_open(const struct record_op *op)
{
	return !op || (op->kind == OP_SLEEP && !order_is_pause(op)) || op->kind == OP_FD_READ ||
	       op->kind == OP_FD_WRITE || op->kind == OP_FD_POLL || op->kind == OP_CHILD_WAIT ||
	       op->kind == OP_SIGNAL_WAIT;
}

static Z3_ast yields_is_blocked(struct solver *solver, const struct blockers *blockers,
	struct event_id step, struct event_id yield)
{
	const struct record_op *op = walk_op_of(solver->walk, step);
	Z3_ast any = Z3_mk_false(solver->z3), woken;

	if (walk_event_of(solver->walk, step)->kind != EVENT_OP)
		return any;
	if (yields_is_open(op))
		return Z3_mk_true(solver->z3);
	if (op->kind == OP_SLEEP || op->kind == OP_BARRIER_ARRIVE ||
		(op->kind != OP_THREAD_BEGIN && !(op_descriptions[op->kind].flags & OP_MAYBLOCK)))
		return any;
	woken = solver_is_woken_before(solver, step, yield);
	if (woken)
		any = solver_not(solver, woken);
	for (uint32_t i = woken ? NONE : blockers->edges[step.thread][step.index]; i != NONE;
		i = blockers->next[i])
		any = solver_or(solver, any,
			solver_is_not_before(solver, solver->order->edges[i].first, yield));
	if (op_descriptions[op->kind].flags & OP_ACQUIRE)
		any = solver_or(solver, any,
			solver_is_locked(solver,
				&(struct order_attempt){op->address, yield,
					op_descriptions[op->kind].flags & OP_READ},
				step.thread));
	return any;
}

/* Adds the constraint: if `when` (may be NULL) holds and step `last` (or NONE) is made, `next`
 * precedes or is blocked. */
static void yields_add_next(struct solver *solver, const struct blockers *blockers,
	const struct yield *yield, const struct pair *pair, Z3_ast when)
{
	const struct event_id last = {pair->next.thread, pair->last}, next = pair->next;
	const uint32_t end = solver->window->end[next.thread];
	const struct event_id location = {next.thread, next.index < end ? next.index : end};
	Z3_ast is_next = solver_occurs(solver, yield->at);
	Z3_ast is_made = Z3_mk_false(solver->z3), held = NULL, blocked;

	if (when)
		is_next = solver_and(solver, is_next, when);
	if (last.index != NONE)
		is_next = solver_and(
			solver, is_next, solver_occurs_before(solver, last, yield->before));
	if (solver_has(solver, next)) {
		if (!yield->is_before_window)
			is_next = solver_and(solver, is_next,
				solver_not(
					solver, solver_occurs_before(solver, next, yield->before)));
		is_made = solver_occurs_before(solver, next, yield->at);
		if (!yield->is_before_window)
			is_made = solver_and(
				solver, is_made, solver_before(solver, yield->before, next));
	}
	if (last.index != NONE)
		held = solver_is_held_at_barrier(solver, last, yield->at);
	blocked = yields_is_blocked(solver, blockers, next, yield->at);
	if (held)
		blocked = solver_or(solver, blocked, held);
	solver_require(solver, is_next,
		solver_or(solver, is_made,
			solver_and(solver, solver_reaches(solver, location), blocked)));
}

/* Adds the constraint of a pair. The last thread at a barrier makes no step to leave the
 * barrier. */
static void yields_add_pair(struct solver *solver, const struct blockers *blockers,
	const struct yield *yield, struct pair pair)
{
	const struct event_id last = {pair.next.thread, pair.last};
	bool was_last;
	Z3_ast at_once = solver_is_last_arrival(solver, pair.next, &was_last);

	if (!yields_is_leave(solver, pair.next))
		at_once = NULL;
	yields_add_next(
		solver, blockers, yield, &pair, at_once ? solver_not(solver, at_once) : NULL);
	if (pair.last == NONE || !yields_is_leave(solver, last))
		return;
	at_once = solver_is_last_arrival(solver, last, &was_last);
	if (!at_once)
		return;
	pair.last = pair.before;
	yields_add_next(solver, blockers, yield, &pair, at_once);
}

static void yields_add_other(struct solver *solver, const struct blockers *blockers,
	const struct yield *yield, uint16_t other)
{
	const struct order *order = solver->order;
	const struct walked_thread *walked = &solver->walk->threads[other];
	const uint32_t begin = solver->window->begin[other];
	const uint32_t past = yields_step_below(solver, other, begin);
	uint32_t before = NONE, last = NONE, left = STEPS_MOST;

	/* The other thread has moved since then, before the window. */
	if (yield->is_before_window && past != NONE &&
		walked->events[past].position >
			walk_event_of(solver->walk, yield->before)->position)
		return;
	for (uint32_t i = begin; i < walked->count && left; i++) {
		const struct event_id next = {other, i};

		if (!event_is_step(&walked->events[i]))
			continue;
		if (last != NONE &&
			(yield->is_before_window || order_is_before(order, yield->before,
							    (struct event_id){other, last})))
			return;
		if (yield->is_before_window || !order_is_before(order, next, yield->before)) {
			yields_add_pair(solver, blockers, yield, (struct pair){last, before, next});
			left--;
		}
		if (!solver_has(solver, next))
			return;
		before = last;
		last = i;
	}
}

/* Keeps the barrier: after it, the yielding thread arrives as in the run. This is stricter than
 * necessary. */
static void yields_keep_barrier(struct solver *solver, const struct yield *yield)
{
	bool was_last;
	Z3_ast is_last = solver_is_last_arrival(solver, yield->before, &was_last);

	if (is_last)
		solver_require(solver, solver_occurs(solver, yield->at),
			was_last ? is_last : solver_not(solver, is_last));
}

static void yields_add(struct solver *solver, struct blockers *blockers, struct event_id at)
{
	struct yield yield = {
		.at = at, .before = {at.thread, yields_step_below(solver, at.thread, at.index)}};

	if (yield.before.index == NONE)
		return;
	yield.is_before_window = solver_is_past(solver, yield.before);
	yields_keep_barrier(solver, &yield);
	if (!blockers->edges)
		yields_open_blockers(solver->order, blockers);
	for (uint16_t other = 0; other < solver->order->thread_count; other++)
		if (other != at.thread)
			yields_add_other(solver, blockers, &yield, other);
}

void solver_add_yields(struct solver *solver)
{
	struct blockers blockers = {0};

	for (uint16_t thread = 0; thread < solver->order->thread_count; thread++)
		for (uint32_t i = solver->window->begin[thread];
			i < solver->window->end[thread] && !solver_is_late(solver); i++) {
			const struct record_op *op =
				walk_op_of(solver->walk, (struct event_id){thread, i});

			if (op && order_is_pause(op))
				yields_add(solver, &blockers, (struct event_id){thread, i});
		}
	yields_close_blockers(solver->order, &blockers);
}
