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
#include "branches/constraints/constraints.h"

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

static const struct walk_event *constraints_yields_event_of(
	const struct constraints *constraints, struct event_id id)
{
	return &constraints->walk->threads[id.thread].events[id.index];
}

static const struct record_op *constraints_yields_op_of(
	const struct constraints *constraints, const struct walk_event *event)
{
	return event->kind == EVENT_OP && event->value != UINT64_MAX
		       ? &constraints->walk->record->ops[event->value]
		       : NULL;
}

static bool constraints_yields_is_yield(
	const struct constraints *constraints, const struct walk_event *event)
{
	const struct record_op *op = constraints_yields_op_of(constraints, event);

	return op && order_is_pause(op);
}

static bool constraints_yields_is_step(const struct walk_event *event)
{
	return event->kind == EVENT_OP ||
	       ((event->kind == EVENT_READ || event->kind == EVENT_WRITE) && !event->is_atomic);
}

/* Returns the thread's last step among its events below `end`; NONE: none. */
static uint32_t constraints_yields_step_below(
	const struct constraints *constraints, uint16_t thread, uint32_t end)
{
	for (uint32_t i = end; i-- > 0;)
		if (constraints_yields_is_step(&constraints->walk->threads[thread].events[i]))
			return i;
	return NONE;
}

static void constraints_yields_open_blockers(const struct order *order, struct blockers *blockers)
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

static bool constraints_yields_is_leave(const struct constraints *constraints, struct event_id id)
{
	const struct record_op *op =
		constraints_yields_op_of(constraints, constraints_yields_event_of(constraints, id));

	return op && op->kind == OP_BARRIER_LEAVE;
}

static Z3_ast constraints_yields_is_locked(struct constraints *constraints,
	const struct record_op *op, struct event_id step, struct event_id yield)
{
	const struct order *order = constraints->order;
	const bool is_read = op_descriptions[op->kind].flags & OP_READ;
	Z3_ast any = Z3_mk_false(constraints->z3), taken;

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];

		if (section->lock == op->address && section->thread != step.thread &&
			!(section->is_shared && is_read) &&
			constraints_counts(constraints, section))
			any = constraints_or(constraints, any,
				constraints_is_inside(constraints, yield, section));
	}
	taken = constraints_is_taken_before(constraints, op->address, yield, is_read);
	return taken ? constraints_or(constraints, any, taken) : any;
}

static Z3_ast constraints_yields_is_blocked(struct constraints *constraints,
	const struct blockers *blockers, struct event_id step, struct event_id yield)
{
	const struct record_op *op = constraints_yields_op_of(
		constraints, constraints_yields_event_of(constraints, step));
	Z3_ast any = Z3_mk_false(constraints->z3), woken;

	if (constraints_yields_event_of(constraints, step)->kind != EVENT_OP)
		return any;
	/* The operation was never performed: nothing is known. */
	if (!op)
		return Z3_mk_true(constraints->z3);
	switch (op->kind) {
	case OP_SLEEP:
		if (order_is_pause(op))
			return any;
		/* The point at which all other threads are blocked is unknown. */
		return Z3_mk_true(constraints->z3);
	/* Events from outside of the process are not modelled. */
	case OP_FD_READ:
	case OP_FD_WRITE:
	case OP_FD_POLL:
	case OP_CHILD_WAIT:
	case OP_SIGNAL_WAIT:
		return Z3_mk_true(constraints->z3);
	case OP_BARRIER_ARRIVE:
		return any;
	default:
		if (op->kind != OP_THREAD_BEGIN && !(op_descriptions[op->kind].flags & OP_MAYBLOCK))
			return any;
	}
	woken = constraints_is_woken_before(constraints, step, yield);
	if (woken)
		any = Z3_mk_not(constraints->z3, woken);
	for (uint32_t i = woken ? NONE : blockers->edges[step.thread][step.index]; i != NONE;
		i = blockers->next[i])
		any = constraints_or(constraints, any,
			constraints_happens_later(
				constraints, constraints->order->edges[i].first, yield));
	if (op_descriptions[op->kind].flags & OP_ACQUIRE)
		any = constraints_or(constraints, any,
			constraints_yields_is_locked(constraints, op, step, yield));
	return any;
}

/* Adds the constraint: if `when` (may be NULL) holds and step `last` (or NONE) is made, `next`
 * precedes or is blocked. */
static void constraints_yields_add_next(struct constraints *constraints,
	const struct blockers *blockers, const struct yield *yield, const struct pair *pair,
	Z3_ast when)
{
	const uint32_t last = pair->last;
	const struct event_id next = pair->next;
	Z3_context z3 = constraints->z3;
	const uint32_t end = constraints->window->end[next.thread];
	Z3_ast is_next = constraints_happens(constraints, yield->at);
	Z3_ast is_made = Z3_mk_false(z3), held, blocked;

	if (when)
		is_next = constraints_and(constraints, is_next, when);
	if (last != NONE)
		is_next = constraints_and(constraints, is_next,
			constraints_happens_before(
				constraints, (struct event_id){next.thread, last}, yield->before));
	if (constraints_has(constraints, next)) {
		if (!yield->is_before_window)
			is_next = constraints_and(constraints, is_next,
				Z3_mk_not(z3, constraints_happens_before(
						      constraints, next, yield->before)));
		is_made = constraints_happens_before(constraints, next, yield->at);
		if (!yield->is_before_window)
			is_made = constraints_and(constraints, is_made,
				constraints_before(constraints, yield->before, next));
	}
	held = last == NONE ? NULL
			    : constraints_is_held_at_barrier(
				      constraints, (struct event_id){next.thread, last}, yield->at);
	blocked = constraints_yields_is_blocked(constraints, blockers, next, yield->at);
	if (held)
		blocked = constraints_or(constraints, blocked, held);
	constraints_add(constraints,
		constraints_implies(constraints, is_next,
			constraints_or(constraints, is_made,
				constraints_and(constraints,
					Z3_mk_ge(z3, constraints->cuts[next.thread],
						Z3_mk_int(z3,
							(int)(next.index < end ? next.index : end),
							constraints->integer)),
					blocked))));
}

/* Adds the constraint of a pair. The last thread at a barrier makes no step to leave the
 * barrier. */
static void constraints_yields_add_pair(struct constraints *constraints,
	const struct blockers *blockers, const struct yield *yield, struct pair pair)
{
	const struct event_id last = {pair.next.thread, pair.last};
	bool was_last;
	Z3_ast at_once = constraints_is_last_arrival(constraints, pair.next, &was_last);

	if (!constraints_yields_is_leave(constraints, pair.next))
		at_once = NULL;
	constraints_yields_add_next(constraints, blockers, yield, &pair,
		at_once ? Z3_mk_not(constraints->z3, at_once) : NULL);
	if (pair.last == NONE || !constraints_yields_is_leave(constraints, last))
		return;
	at_once = constraints_is_last_arrival(constraints, last, &was_last);
	if (!at_once)
		return;
	pair.last = pair.before;
	constraints_yields_add_next(constraints, blockers, yield, &pair, at_once);
}

static void constraints_yields_add_other(struct constraints *constraints,
	const struct blockers *blockers, const struct yield *yield, uint16_t other)
{
	const struct order *order = constraints->order;
	const struct walked_thread *walked = &constraints->walk->threads[other];
	const uint32_t begin = constraints->window->begin[other];
	const uint32_t past = constraints_yields_step_below(constraints, other, begin);
	uint32_t before = NONE, last = NONE, left = STEPS_MOST;

	/* The other thread has moved since then, before the window. */
	if (yield->is_before_window && past != NONE &&
		walked->events[past].position >
			constraints_yields_event_of(constraints, yield->before)->position)
		return;
	for (uint32_t i = begin; i < walked->count && left; i++) {
		const struct event_id next = {other, i};

		if (!constraints_yields_is_step(&walked->events[i]))
			continue;
		if (last != NONE &&
			(yield->is_before_window || order_is_before(order, yield->before,
							    (struct event_id){other, last})))
			return;
		if (yield->is_before_window || !order_is_before(order, next, yield->before)) {
			constraints_yields_add_pair(
				constraints, blockers, yield, (struct pair){last, before, next});
			left--;
		}
		if (!constraints_has(constraints, next))
			return;
		before = last;
		last = i;
	}
}

/* Keeps the barrier: after it, the yielding thread arrives as in the run. This is stricter than
 * necessary. */
static void constraints_yields_keep_barrier(
	struct constraints *constraints, const struct yield *yield)
{
	bool was_last;
	Z3_ast is_last = constraints_is_last_arrival(constraints, yield->before, &was_last);

	if (is_last)
		constraints_add(constraints,
			constraints_implies(constraints,
				constraints_happens(constraints, yield->at),
				was_last ? is_last : Z3_mk_not(constraints->z3, is_last)));
}

void constraints_add_yields(struct constraints *constraints)
{
	const uint32_t threads = constraints->order->thread_count;
	struct blockers blockers = {0};

	for (uint16_t thread = 0; thread < threads; thread++)
		for (uint32_t i = constraints->window->begin[thread];
			i < constraints->window->end[thread] && !constraints_is_late(constraints);
			i++) {
			struct yield yield = {.at = {thread, i}};

			if (!constraints_yields_is_yield(
				    constraints, &constraints->walk->threads[thread].events[i]))
				continue;
			yield.before = (struct event_id){
				thread, constraints_yields_step_below(constraints, thread, i)};
			if (yield.before.index == NONE)
				continue;
			yield.is_before_window = constraints_is_past(constraints, yield.before);
			constraints_yields_keep_barrier(constraints, &yield);
			if (!blockers.edges)
				constraints_yields_open_blockers(constraints->order, &blockers);
			for (uint16_t other = 0; other < threads; other++)
				if (other != thread)
					constraints_yields_add_other(
						constraints, &blockers, &yield, other);
		}
	if (blockers.edges) {
		for (uint32_t i = 0; i < constraints->order->thread_count; i++)
			free(blockers.edges[i]);
		free(blockers.edges);
		free(blockers.next);
	}
}
