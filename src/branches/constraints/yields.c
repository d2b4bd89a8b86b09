/*
 * Yields. The engine schedules a thread before a yield only after each other enabled thread has
 * made a step (engine/fairness.c). A schedule that violates this cannot be replayed. The constraint
 * for each yield and each other thread: let s be the other thread's first step that is not made
 * before the yielding thread's previous step. Then s happens before the yield, or s is blocked
 * then.
 */
#include <stdlib.h>

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

static const struct walk_event *yields_event_of(const struct solver *solver, struct event_id id)
{
	return &solver->walk->threads[id.thread].events[id.index];
}

static const struct record_op *yields_op_of(
	const struct solver *solver, const struct walk_event *event)
{
	return event->kind == EVENT_OP && event->value != UINT64_MAX
		       ? &solver->walk->record->ops[event->value]
		       : NULL;
}

static bool yields_is_yield(const struct solver *solver, const struct walk_event *event)
{
	const struct record_op *op = yields_op_of(solver, event);

	return op && order_is_pause(op);
}

static bool yields_is_step(const struct walk_event *event)
{
	return event->kind == EVENT_OP ||
	       ((event->kind == EVENT_READ || event->kind == EVENT_WRITE) && !event->is_atomic);
}

/* Returns the thread's last step among its events below `end`; NONE: none. */
static uint32_t yields_step_below(const struct solver *solver, uint16_t thread, uint32_t end)
{
	for (uint32_t i = end; i-- > 0;)
		if (yields_is_step(&solver->walk->threads[thread].events[i]))
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
		for (uint64_t j = 0; j < count; j++)
			blockers->edges[i][j] = NONE;
	}
	for (uint32_t i = 0; i < order->edge_count; i++) {
		const struct event_id id = order->edges[i].second;

		blockers->next[i] = blockers->edges[id.thread][id.index];
		blockers->edges[id.thread][id.index] = i;
	}
}

static bool yields_is_leave(const struct solver *solver, struct event_id id)
{
	const struct record_op *op = yields_op_of(solver, yields_event_of(solver, id));

	return op && op->kind == OP_BARRIER_LEAVE;
}

static Z3_ast yields_is_locked(struct solver *solver, const struct record_op *op,
	struct event_id step, struct event_id yield)
{
	const struct order *order = solver->order;
	const bool is_read = op_descriptions[op->kind].flags & OP_READ;
	Z3_ast any = Z3_mk_false(solver->z3), taken;

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];

		if (section->lock == op->address && section->thread != step.thread &&
			!(section->is_shared && is_read) && solver_counts(solver, section))
			any = solver_or(solver, any, solver_is_inside(solver, yield, section));
	}
	taken = solver_is_taken_before(solver, op->address, yield, is_read);
	return taken ? solver_or(solver, any, taken) : any;
}

static Z3_ast yields_is_blocked(struct solver *solver, const struct blockers *blockers,
	struct event_id step, struct event_id yield)
{
	const struct record_op *op = yields_op_of(solver, yields_event_of(solver, step));
	Z3_ast any = Z3_mk_false(solver->z3), woken;

	if (yields_event_of(solver, step)->kind != EVENT_OP)
		return any;
	/* The operation was never performed: nothing is known. */
	if (!op)
		return Z3_mk_true(solver->z3);
	switch (op->kind) {
	case OP_SLEEP:
		if (order_is_pause(op))
			return any;
		/* The point at which all other threads are blocked is unknown. */
		return Z3_mk_true(solver->z3);
	/* Events from outside of the process are not modelled. */
	case OP_FD_READ:
	case OP_FD_WRITE:
	case OP_FD_POLL:
	case OP_CHILD_WAIT:
	case OP_SIGNAL_WAIT:
		return Z3_mk_true(solver->z3);
	case OP_BARRIER_ARRIVE:
		return any;
	default:
		if (op->kind != OP_THREAD_BEGIN && !(op_descriptions[op->kind].flags & OP_MAYBLOCK))
			return any;
	}
	woken = solver_is_woken_before(solver, step, yield);
	if (woken)
		any = Z3_mk_not(solver->z3, woken);
	for (uint32_t i = woken ? NONE : blockers->edges[step.thread][step.index]; i != NONE;
		i = blockers->next[i])
		any = solver_or(solver, any,
			solver_happens_later(solver, solver->order->edges[i].first, yield));
	if (op_descriptions[op->kind].flags & OP_ACQUIRE)
		any = solver_or(solver, any, yields_is_locked(solver, op, step, yield));
	return any;
}

/* Adds the constraint: if `when` (may be NULL) holds and step `last` (or NONE) is made, `next`
 * precedes or is blocked. */
static void yields_add_next(struct solver *solver, const struct blockers *blockers,
	const struct yield *yield, const struct pair *pair, Z3_ast when)
{
	const uint32_t last = pair->last;
	const struct event_id next = pair->next;
	Z3_context z3 = solver->z3;
	const uint32_t end = solver->window->end[next.thread];
	Z3_ast is_next = solver_happens(solver, yield->at);
	Z3_ast is_made = Z3_mk_false(z3), held, blocked;

	if (when)
		is_next = solver_and(solver, is_next, when);
	if (last != NONE)
		is_next = solver_and(solver, is_next,
			solver_happens_before(
				solver, (struct event_id){next.thread, last}, yield->before));
	if (solver_has(solver, next)) {
		if (!yield->is_before_window)
			is_next = solver_and(solver, is_next,
				Z3_mk_not(z3, solver_happens_before(solver, next, yield->before)));
		is_made = solver_happens_before(solver, next, yield->at);
		if (!yield->is_before_window)
			is_made = solver_and(
				solver, is_made, solver_before(solver, yield->before, next));
	}
	held = last == NONE ? NULL
			    : solver_is_held_at_barrier(
				      solver, (struct event_id){next.thread, last}, yield->at);
	blocked = yields_is_blocked(solver, blockers, next, yield->at);
	if (held)
		blocked = solver_or(solver, blocked, held);
	solver_add(solver,
		solver_implies(solver, is_next,
			solver_or(solver, is_made,
				solver_and(solver,
					Z3_mk_ge(z3, solver->cuts[next.thread],
						Z3_mk_int(z3,
							(int)(next.index < end ? next.index : end),
							solver->integer)),
					blocked))));
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
		solver, blockers, yield, &pair, at_once ? Z3_mk_not(solver->z3, at_once) : NULL);
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
		walked->events[past].position > yields_event_of(solver, yield->before)->position)
		return;
	for (uint32_t i = begin; i < walked->count && left; i++) {
		const struct event_id next = {other, i};

		if (!yields_is_step(&walked->events[i]))
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
		solver_add(solver, solver_implies(solver, solver_happens(solver, yield->at),
					   was_last ? is_last : Z3_mk_not(solver->z3, is_last)));
}

void solver_add_yields(struct solver *solver)
{
	const uint32_t threads = solver->order->thread_count;
	struct blockers blockers = {0};

	for (uint16_t thread = 0; thread < threads; thread++)
		for (uint32_t i = solver->window->begin[thread];
			i < solver->window->end[thread] && !solver_is_late(solver); i++) {
			struct yield yield = {.at = {thread, i}};

			if (!yields_is_yield(solver, &solver->walk->threads[thread].events[i]))
				continue;
			yield.before =
				(struct event_id){thread, yields_step_below(solver, thread, i)};
			if (yield.before.index == NONE)
				continue;
			yield.is_before_window = solver_is_past(solver, yield.before);
			yields_keep_barrier(solver, &yield);
			if (!blockers.edges)
				yields_open_blockers(solver->order, &blockers);
			for (uint16_t other = 0; other < threads; other++)
				if (other != thread)
					yields_add_other(solver, &blockers, &yield, other);
		}
	if (blockers.edges) {
		for (uint32_t i = 0; i < solver->order->thread_count; i++)
			free(blockers.edges[i]);
		free(blockers.edges);
		free(blockers.next);
	}
}
