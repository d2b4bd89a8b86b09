/*
 * Results of operations that may differ from the run: try-locks, semaphores, and the last arrival
 * at a barrier (constraints_rounds.c). A thread with another result continues on its recorded path
 * while its branches have their recorded outcomes. After a try-lock with another result, the thread
 * continues only up to its next operation on the lock.
 */
#include <stdlib.h>

#include "base/array.h"
#include "model/op.h"
#include "branches/constraints/constraints.h"

static const struct walk_event *constraints_outcomes_event_of(
	const struct constraints *constraints, struct event_id id)
{
	return &constraints->walk->threads[id.thread].events[id.index];
}

static const struct record_op *constraints_outcomes_op_of(
	const struct constraints *constraints, struct event_id id)
{
	const struct walk_event *event = constraints_outcomes_event_of(constraints, id);

	return event->kind == EVENT_OP && event->value != UINT64_MAX
		       ? &constraints->walk->record->ops[event->value]
		       : NULL;
}

Z3_ast constraints_differs_from_run(struct constraints *constraints, struct event_id event)
{
	const struct walk_event *of = constraints_outcomes_event_of(constraints, event);
	struct term *term;

	if (of->kind != EVENT_OP || !of->term || constraints_is_past(constraints, event) ||
		!constraints_has(constraints, event))
		return NULL;
	term = walk_event_term(constraints->walk, of);
	return Z3_mk_eq(constraints->z3, constraints_term(constraints, term),
		constraints_bits(constraints, term->width, of->address));
}

Z3_ast constraints_is_as_recorded(struct constraints *constraints, struct event_id event)
{
	Z3_ast otherwise = constraints_differs_from_run(constraints, event);
	Z3_ast happens = constraints_happens(constraints, event);

	return otherwise ? constraints_and(
				   constraints, happens, Z3_mk_not(constraints->z3, otherwise))
			 : happens;
}

Z3_ast constraints_happens_before(
	struct constraints *constraints, struct event_id event, struct event_id other)
{
	if (constraints_is_past(constraints, event) || !constraints_has(constraints, event))
		return constraints_happens(constraints, event);
	return constraints_and(constraints, constraints_happens(constraints, event),
		constraints_before(constraints, event, other));
}

Z3_ast constraints_happens_later(
	struct constraints *constraints, struct event_id event, struct event_id other)
{
	Z3_ast never = Z3_mk_not(constraints->z3, constraints_happens(constraints, event));

	if (constraints_is_past(constraints, event) || !constraints_has(constraints, event))
		return never;
	return constraints_or(constraints, never, constraints_before(constraints, other, event));
}

static bool constraints_outcomes_excludes(
	const struct record_op *op, const struct order_section *section)
{
	return !(section->is_shared && op_descriptions[op->kind].flags & OP_READ);
}

/* Returns the condition that the try-lock failed in the run, succeeds here, and the thread keeps
 * the lock. */
static Z3_ast constraints_outcomes_is_taken(
	struct constraints *constraints, const struct order_failure *failure)
{
	Z3_ast otherwise = constraints_differs_from_run(constraints, failure->event);

	return otherwise ? constraints_and(constraints,
				   constraints_happens(constraints, failure->event), otherwise)
			 : NULL;
}

Z3_ast constraints_is_taken_before(
	struct constraints *constraints, uint64_t lock, struct event_id event, bool is_shared)
{
	const struct order *order = constraints->order;
	Z3_ast any = NULL;

	for (uint32_t i = 0; i < order->failure_count; i++) {
		const struct order_failure *failure = &order->failures[i];
		Z3_ast taken;

		if (failure->lock != lock || failure->event.thread == event.thread ||
			(failure->is_shared && is_shared))
			continue;
		taken = constraints_outcomes_is_taken(constraints, failure);
		if (!taken)
			continue;
		taken = constraints_and(
			constraints, taken, constraints_before(constraints, failure->event, event));
		any = any ? constraints_or(constraints, any, taken) : taken;
	}
	return any;
}

/* Adds constraints: a lock acquired by such a try-lock excludes the sections of other threads. */
static void constraints_outcomes_add_taken(
	struct constraints *constraints, const struct order_failure *failure)
{
	const struct order *order = constraints->order;
	Z3_ast taken = constraints_outcomes_is_taken(constraints, failure);

	for (uint32_t i = 0; taken && i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		const struct event_id begin = {section->thread, section->begin};
		const struct event_id end = {section->thread, section->end};
		Z3_ast out;

		if (section->lock != failure->lock || section->thread == failure->event.thread ||
			(section->is_shared && failure->is_shared) ||
			!constraints_counts(constraints, section))
			continue;
		out = Z3_mk_not(constraints->z3, constraints_is_as_recorded(constraints, begin));
		if (section->end != UINT32_MAX)
			out = constraints_or(constraints, out,
				constraints_happens_before(constraints, end, failure->event));
		constraints_add(constraints, constraints_implies(constraints, taken, out));
	}
	for (const struct order_failure *other = failure;
		taken && ++other < order->failures + order->failure_count;) {
		Z3_ast also = other->lock == failure->lock &&
					      other->event.thread != failure->event.thread &&
					      !(other->is_shared && failure->is_shared)
				      ? constraints_outcomes_is_taken(constraints, other)
				      : NULL;

		if (also)
			constraints_add(
				constraints, Z3_mk_not(constraints->z3,
						     constraints_and(constraints, taken, also)));
	}
}

/* Returns the condition that the try-lock's recorded result contradicts the state of the lock
 * here. */
static Z3_ast constraints_outcomes_try_differs(
	struct constraints *constraints, struct event_id event, const struct record_op *op)
{
	const bool has_failed = op->flags & RECORD_OP_FAILED;
	const struct order *order = constraints->order;
	Z3_ast result = has_failed ? Z3_mk_true(constraints->z3) : Z3_mk_false(constraints->z3),
	       taken;

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		const struct event_id begin = {section->thread, section->begin};
		const struct event_id end = {section->thread, section->end};

		if (section->lock != op->address || !constraints_counts(constraints, section))
			continue;
		if (section->thread == event.thread && section->begin < event.index &&
			(section->end == UINT32_MAX || section->end > event.index))
			return Z3_mk_false(constraints->z3);
		if (section->thread == event.thread || !constraints_outcomes_excludes(op, section))
			continue;
		if (!has_failed) {
			result = constraints_or(constraints, result,
				constraints_is_inside(constraints, event, section));
			continue;
		}
		result = constraints_and(constraints, result,
			section->end == UINT32_MAX
				? constraints_happens_later(constraints, begin, event)
				: constraints_or(constraints,
					  constraints_happens_later(constraints, begin, event),
					  constraints_happens_before(constraints, end, event)));
	}
	taken = has_failed ? NULL
			   : constraints_is_taken_before(constraints, op->address, event,
				     op_descriptions[op->kind].flags & OP_READ);
	return taken ? constraints_or(constraints, result, taken) : result;
}

/* Returns the condition that the semaphore's value, computed from posts and waits, is at least, or
 * exactly, `value`. */
static Z3_ast constraints_outcomes_has_value(struct constraints *constraints,
	const struct order_semaphore *semaphore, const struct order_use *use, uint32_t value,
	bool is_exact)
{
	Z3_ast *parts = array_new(semaphore->count, sizeof *parts);
	int *factors = array_new(semaphore->count, sizeof *factors);
	int wanted = (int)value - (int)semaphore->value;
	unsigned count = 0;
	Z3_ast result;

	for (uint32_t i = 0; i < semaphore->count; i++) {
		const struct order_use *other = &semaphore->uses[i];
		Z3_ast before;

		if (other == use || other->kind == OP_SEM_READ)
			continue;
		before = constraints_happens_before(constraints, other->event, use->event);
		if (other->kind == OP_SEM_WAIT) {
			Z3_ast otherwise = constraints_differs_from_run(constraints, other->event);

			if (other->has_failed && !otherwise)
				continue;
			if (otherwise)
				before = constraints_and(constraints, before,
					other->has_failed ? otherwise
							  : Z3_mk_not(constraints->z3, otherwise));
			before = Z3_mk_not(constraints->z3, before);
		}
		wanted += other->kind == OP_SEM_WAIT;
		factors[count] = 1;
		parts[count++] = before;
	}
	constraints->terms_made += count;
	if (!count)
		result = (is_exact ? wanted == 0 : wanted <= 0) ? Z3_mk_true(constraints->z3)
								: Z3_mk_false(constraints->z3);
	else if (is_exact)
		result = Z3_mk_pbeq(constraints->z3, count, parts, factors, wanted);
	else
		result = Z3_mk_pbge(constraints->z3, count, parts, factors, wanted);
	free(parts);
	free(factors);
	return result;
}

static void constraints_outcomes_add_use(struct constraints *constraints,
	const struct order_semaphore *semaphore, const struct order_use *use)
{
	Z3_ast otherwise = constraints_differs_from_run(constraints, use->event);
	Z3_ast as_it_was;

	if (use->kind == OP_SEM_POST)
		return;
	as_it_was = use->kind == OP_SEM_READ ? constraints_outcomes_has_value(constraints,
						       semaphore, use, use->value, true)
		    : use->has_failed
			    ? constraints_outcomes_has_value(constraints, semaphore, use, 0, true)
			    : constraints_outcomes_has_value(constraints, semaphore, use, 1, false);
	constraints_add(constraints,
		constraints_implies(constraints,
			constraints_is_as_recorded(constraints, use->event), as_it_was));
	if (otherwise)
		constraints_add(constraints,
			constraints_implies(constraints, otherwise,
				use->has_failed ? constraints_outcomes_has_value(
							  constraints, semaphore, use, 1, false)
						: constraints_outcomes_has_value(
							  constraints, semaphore, use, 0, true)));
}

/* Counts of posts and waits are defined only for uses at different times. */
static void constraints_outcomes_add_distinct(
	struct constraints *constraints, const struct order_use *a, const struct order_use *b)
{
	if (a->event.thread == b->event.thread ||
		order_is_before(constraints->order, a->event, b->event) ||
		order_is_before(constraints->order, b->event, a->event))
		return;
	constraints_add(constraints,
		constraints_or(constraints, constraints_before(constraints, a->event, b->event),
			constraints_before(constraints, b->event, a->event)));
}

static bool constraints_outcomes_is_in_window(
	const struct constraints *constraints, const struct order_use *use)
{
	return constraints_has(constraints, use->event) &&
	       !constraints_is_past(constraints, use->event);
}

static void constraints_outcomes_add_semaphore(
	struct constraints *constraints, const struct order_semaphore *semaphore)
{
	for (uint32_t i = 0; i < semaphore->count && !constraints_is_late(constraints); i++) {
		if (!constraints_outcomes_is_in_window(constraints, &semaphore->uses[i]))
			continue;
		constraints_outcomes_add_use(constraints, semaphore, &semaphore->uses[i]);
		for (uint32_t j = i + 1; j < semaphore->count; j++)
			if (constraints_outcomes_is_in_window(constraints, &semaphore->uses[j]))
				constraints_outcomes_add_distinct(
					constraints, &semaphore->uses[i], &semaphore->uses[j]);
	}
}

static const struct order_semaphore *constraints_outcomes_semaphore_at(
	const struct order *order, uint64_t address)
{
	for (uint32_t i = 0; i < order->semaphore_count; i++)
		if (order->semaphores[i].address == address)
			return &order->semaphores[i];
	return NULL;
}

static Z3_ast constraints_outcomes_may_differ(
	struct constraints *constraints, struct event_id event)
{
	const struct record_op *op = constraints_outcomes_op_of(constraints, event);

	switch (op->kind) {
	case OP_BARRIER_ARRIVE: /* an open round is handled in constraints_outcomes_add_outcome() */
		return Z3_mk_false(constraints->z3);
	case OP_SEM_TRYWAIT: /* a known semaphore is handled in constraints_outcomes_add_use() */
		return Z3_mk_false(constraints->z3);
	default:
		return constraints_outcomes_try_differs(constraints, event, op);
	}
}

/* Returns the thread's next operation on the lock, which it does not reach with another result. */
static uint32_t constraints_outcomes_next_on_lock(
	const struct constraints *constraints, struct event_id event)
{
	const struct walked_thread *walked = &constraints->walk->threads[event.thread];
	const uint64_t lock = constraints_outcomes_op_of(constraints, event)->address;

	for (uint32_t i = event.index + 1; i < walked->count; i++) {
		const struct record_op *op =
			constraints_outcomes_op_of(constraints, (struct event_id){event.thread, i});

		if (walked->events[i].kind == EVENT_OP &&
			(!op || op->address == lock ||
				(op->kind == OP_COND_WAIT && op->argument == lock)))
			return i;
	}
	return (uint32_t)walked->count;
}

static void constraints_outcomes_add_outcome(struct constraints *constraints, struct event_id event)
{
	struct term *term = walk_event_term(
		constraints->walk, constraints_outcomes_event_of(constraints, event));
	const struct record_op *op = constraints_outcomes_op_of(constraints, event);
	Z3_ast otherwise = constraints_differs_from_run(constraints, event);

	if (!otherwise)
		return;
	if (!op) /* the result of an unknown operation is as recorded */
		constraints_add(constraints, Z3_mk_not(constraints->z3, otherwise));
	constraints_add(constraints,
		constraints_or(constraints, otherwise,
			Z3_mk_eq(constraints->z3, constraints_term(constraints, term),
				constraints_bits(constraints, term->width, term->value))));
	if (!op)
		return;
	if (constraints_has_open_round(constraints, event) ||
		(op->kind == OP_SEM_TRYWAIT &&
			constraints_outcomes_semaphore_at(constraints->order, op->address)))
		return;
	constraints_add(constraints,
		constraints_implies(constraints,
			constraints_and(
				constraints, constraints_happens(constraints, event), otherwise),
			constraints_and(constraints,
				constraints_outcomes_may_differ(constraints, event),
				Z3_mk_le(constraints->z3, constraints->cuts[event.thread],
					Z3_mk_int(constraints->z3,
						(int)constraints_outcomes_next_on_lock(
							constraints, event),
						constraints->integer)))));
}

void constraints_add_operations(struct constraints *constraints)
{
	for (uint16_t thread = 0; thread < constraints->order->thread_count; thread++)
		for (uint32_t i = constraints->window->begin[thread];
			i < constraints->window->end[thread] && !constraints_is_late(constraints);
			i++)
			constraints_outcomes_add_outcome(constraints, (struct event_id){thread, i});
	for (uint32_t i = 0; i < constraints->order->failure_count; i++)
		constraints_outcomes_add_taken(constraints, &constraints->order->failures[i]);
	for (uint32_t i = 0; i < constraints->order->semaphore_count; i++)
		constraints_outcomes_add_semaphore(constraints, &constraints->order->semaphores[i]);
}
