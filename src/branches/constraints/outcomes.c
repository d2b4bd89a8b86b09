/*
 * Results of operations that may differ from the run: try-locks, semaphores, and the last arrival
 * at a barrier (rounds.c). A thread with another result continues on its recorded path
 * while its branches have their recorded outcomes. After a try-lock with another result, the thread
 * continues only up to its next operation on the lock.
 */
#include <stdlib.h>

#include "base/array.h"
#include "model/op.h"
#include "branches/constraints/solver.h"

static const struct walk_event *outcomes_event_of(const struct solver *solver, struct event_id id)
{
	return &solver->walk->threads[id.thread].events[id.index];
}

static const struct record_op *outcomes_op_of(const struct solver *solver, struct event_id id)
{
	const struct walk_event *event = outcomes_event_of(solver, id);

	return event->kind == EVENT_OP && event->value != UINT64_MAX
		       ? &solver->walk->record->ops[event->value]
		       : NULL;
}

Z3_ast solver_differs_from_run(struct solver *solver, struct event_id event)
{
	const struct walk_event *of = outcomes_event_of(solver, event);
	struct term *term;

	if (of->kind != EVENT_OP || !of->term || solver_is_past(solver, event) ||
		!solver_has(solver, event))
		return NULL;
	term = walk_event_term(solver->walk, of);
	return Z3_mk_eq(solver->z3, solver_term(solver, term),
		solver_bits(solver, term->width, of->address));
}

Z3_ast solver_is_as_recorded(struct solver *solver, struct event_id event)
{
	Z3_ast otherwise = solver_differs_from_run(solver, event);
	Z3_ast happens = solver_happens(solver, event);

	return otherwise ? solver_and(solver, happens, Z3_mk_not(solver->z3, otherwise)) : happens;
}

Z3_ast solver_happens_before(struct solver *solver, struct event_id event, struct event_id other)
{
	if (solver_is_past(solver, event) || !solver_has(solver, event))
		return solver_happens(solver, event);
	return solver_and(
		solver, solver_happens(solver, event), solver_before(solver, event, other));
}

Z3_ast solver_happens_later(struct solver *solver, struct event_id event, struct event_id other)
{
	Z3_ast never = Z3_mk_not(solver->z3, solver_happens(solver, event));

	if (solver_is_past(solver, event) || !solver_has(solver, event))
		return never;
	return solver_or(solver, never, solver_before(solver, other, event));
}

static bool outcomes_excludes(const struct record_op *op, const struct order_section *section)
{
	return !(section->is_shared && op_descriptions[op->kind].flags & OP_READ);
}

/* Returns the condition that the try-lock failed in the run, succeeds here, and the thread keeps
 * the lock. */
static Z3_ast outcomes_is_taken(struct solver *solver, const struct order_failure *failure)
{
	Z3_ast otherwise = solver_differs_from_run(solver, failure->event);

	return otherwise ? solver_and(solver, solver_happens(solver, failure->event), otherwise)
			 : NULL;
}

Z3_ast solver_is_taken_before(
	struct solver *solver, uint64_t lock, struct event_id event, bool is_shared)
{
	const struct order *order = solver->order;
	Z3_ast any = NULL;

	for (uint32_t i = 0; i < order->failure_count; i++) {
		const struct order_failure *failure = &order->failures[i];
		Z3_ast taken;

		if (failure->lock != lock || failure->event.thread == event.thread ||
			(failure->is_shared && is_shared))
			continue;
		taken = outcomes_is_taken(solver, failure);
		if (!taken)
			continue;
		taken = solver_and(solver, taken, solver_before(solver, failure->event, event));
		any = any ? solver_or(solver, any, taken) : taken;
	}
	return any;
}

/* Adds constraints: a lock acquired by such a try-lock excludes the sections of other threads. */
static void outcomes_add_taken(struct solver *solver, const struct order_failure *failure)
{
	const struct order *order = solver->order;
	Z3_ast taken = outcomes_is_taken(solver, failure);

	for (uint32_t i = 0; taken && i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		const struct event_id begin = {section->thread, section->begin};
		const struct event_id end = {section->thread, section->end};
		Z3_ast out;

		if (section->lock != failure->lock || section->thread == failure->event.thread ||
			(section->is_shared && failure->is_shared) ||
			!solver_counts(solver, section))
			continue;
		out = Z3_mk_not(solver->z3, solver_is_as_recorded(solver, begin));
		if (section->end != UINT32_MAX)
			out = solver_or(
				solver, out, solver_happens_before(solver, end, failure->event));
		solver_add(solver, solver_implies(solver, taken, out));
	}
	for (const struct order_failure *other = failure;
		taken && ++other < order->failures + order->failure_count;) {
		Z3_ast also = other->lock == failure->lock &&
					      other->event.thread != failure->event.thread &&
					      !(other->is_shared && failure->is_shared)
				      ? outcomes_is_taken(solver, other)
				      : NULL;

		if (also)
			solver_add(solver, Z3_mk_not(solver->z3, solver_and(solver, taken, also)));
	}
}

/* Returns the condition that the try-lock's recorded result contradicts the state of the lock
 * here. */
static Z3_ast outcomes_try_differs(
	struct solver *solver, struct event_id event, const struct record_op *op)
{
	const bool has_failed = op->flags & RECORD_OP_FAILED;
	const struct order *order = solver->order;
	Z3_ast result = has_failed ? Z3_mk_true(solver->z3) : Z3_mk_false(solver->z3), taken;

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		const struct event_id begin = {section->thread, section->begin};
		const struct event_id end = {section->thread, section->end};

		if (section->lock != op->address || !solver_counts(solver, section))
			continue;
		if (section->thread == event.thread && section->begin < event.index &&
			(section->end == UINT32_MAX || section->end > event.index))
			return Z3_mk_false(solver->z3);
		if (section->thread == event.thread || !outcomes_excludes(op, section))
			continue;
		if (!has_failed) {
			result =
				solver_or(solver, result, solver_is_inside(solver, event, section));
			continue;
		}
		result = solver_and(solver, result,
			section->end == UINT32_MAX
				? solver_happens_later(solver, begin, event)
				: solver_or(solver, solver_happens_later(solver, begin, event),
					  solver_happens_before(solver, end, event)));
	}
	taken = has_failed ? NULL
			   : solver_is_taken_before(solver, op->address, event,
				     op_descriptions[op->kind].flags & OP_READ);
	return taken ? solver_or(solver, result, taken) : result;
}

/* Returns the condition that the semaphore's value, computed from posts and waits, is at least, or
 * exactly, `value`. */
static Z3_ast outcomes_has_value(struct solver *solver, const struct order_semaphore *semaphore,
	const struct order_use *use, uint32_t value, bool is_exact)
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
		before = solver_happens_before(solver, other->event, use->event);
		if (other->kind == OP_SEM_WAIT) {
			Z3_ast otherwise = solver_differs_from_run(solver, other->event);

			if (other->has_failed && !otherwise)
				continue;
			if (otherwise)
				before = solver_and(solver, before,
					other->has_failed ? otherwise
							  : Z3_mk_not(solver->z3, otherwise));
			before = Z3_mk_not(solver->z3, before);
		}
		wanted += other->kind == OP_SEM_WAIT;
		factors[count] = 1;
		parts[count++] = before;
	}
	solver->terms_made += count;
	if (!count)
		result = (is_exact ? wanted == 0 : wanted <= 0) ? Z3_mk_true(solver->z3)
								: Z3_mk_false(solver->z3);
	else if (is_exact)
		result = Z3_mk_pbeq(solver->z3, count, parts, factors, wanted);
	else
		result = Z3_mk_pbge(solver->z3, count, parts, factors, wanted);
	free(parts);
	free(factors);
	return result;
}

static void outcomes_add_use(
	struct solver *solver, const struct order_semaphore *semaphore, const struct order_use *use)
{
	Z3_ast otherwise = solver_differs_from_run(solver, use->event);
	Z3_ast as_it_was;

	if (use->kind == OP_SEM_POST)
		return;
	as_it_was = use->kind == OP_SEM_READ
			    ? outcomes_has_value(solver, semaphore, use, use->value, true)
		    : use->has_failed ? outcomes_has_value(solver, semaphore, use, 0, true)
				      : outcomes_has_value(solver, semaphore, use, 1, false);
	solver_add(solver,
		solver_implies(solver, solver_is_as_recorded(solver, use->event), as_it_was));
	if (otherwise)
		solver_add(solver,
			solver_implies(solver, otherwise,
				use->has_failed
					? outcomes_has_value(solver, semaphore, use, 1, false)
					: outcomes_has_value(solver, semaphore, use, 0, true)));
}

/* Counts of posts and waits are defined only for uses at different times. */
static void outcomes_add_distinct(
	struct solver *solver, const struct order_use *a, const struct order_use *b)
{
	if (a->event.thread == b->event.thread ||
		order_is_before(solver->order, a->event, b->event) ||
		order_is_before(solver->order, b->event, a->event))
		return;
	solver_add(solver, solver_or(solver, solver_before(solver, a->event, b->event),
				   solver_before(solver, b->event, a->event)));
}

static bool outcomes_is_in_window(const struct solver *solver, const struct order_use *use)
{
	return solver_has(solver, use->event) && !solver_is_past(solver, use->event);
}

static void outcomes_add_semaphore(struct solver *solver, const struct order_semaphore *semaphore)
{
	for (uint32_t i = 0; i < semaphore->count && !solver_is_late(solver); i++) {
		if (!outcomes_is_in_window(solver, &semaphore->uses[i]))
			continue;
		outcomes_add_use(solver, semaphore, &semaphore->uses[i]);
		for (uint32_t j = i + 1; j < semaphore->count; j++)
			if (outcomes_is_in_window(solver, &semaphore->uses[j]))
				outcomes_add_distinct(
					solver, &semaphore->uses[i], &semaphore->uses[j]);
	}
}

static const struct order_semaphore *outcomes_semaphore_at(
	const struct order *order, uint64_t address)
{
	for (uint32_t i = 0; i < order->semaphore_count; i++)
		if (order->semaphores[i].address == address)
			return &order->semaphores[i];
	return NULL;
}

static Z3_ast outcomes_may_differ(struct solver *solver, struct event_id event)
{
	const struct record_op *op = outcomes_op_of(solver, event);

	switch (op->kind) {
	case OP_BARRIER_ARRIVE: /* an open round is handled in outcomes_add_outcome() */
		return Z3_mk_false(solver->z3);
	case OP_SEM_TRYWAIT: /* a known semaphore is handled in outcomes_add_use() */
		return Z3_mk_false(solver->z3);
	default:
		return outcomes_try_differs(solver, event, op);
	}
}

/* Returns the thread's next operation on the lock, which it does not reach with another result. */
static uint32_t outcomes_next_on_lock(const struct solver *solver, struct event_id event)
{
	const struct walked_thread *walked = &solver->walk->threads[event.thread];
	const uint64_t lock = outcomes_op_of(solver, event)->address;

	for (uint32_t i = event.index + 1; i < walked->count; i++) {
		const struct record_op *op =
			outcomes_op_of(solver, (struct event_id){event.thread, i});

		if (walked->events[i].kind == EVENT_OP &&
			(!op || op->address == lock ||
				(op->kind == OP_COND_WAIT && op->argument == lock)))
			return i;
	}
	return (uint32_t)walked->count;
}

static void outcomes_add_outcome(struct solver *solver, struct event_id event)
{
	struct term *term = walk_event_term(solver->walk, outcomes_event_of(solver, event));
	const struct record_op *op = outcomes_op_of(solver, event);
	Z3_ast otherwise = solver_differs_from_run(solver, event);

	if (!otherwise)
		return;
	if (!op) /* the result of an unknown operation is as recorded */
		solver_add(solver, Z3_mk_not(solver->z3, otherwise));
	solver_add(solver, solver_or(solver, otherwise,
				   Z3_mk_eq(solver->z3, solver_term(solver, term),
					   solver_bits(solver, term->width, term->value))));
	if (!op)
		return;
	if (solver_has_open_round(solver, event) ||
		(op->kind == OP_SEM_TRYWAIT && outcomes_semaphore_at(solver->order, op->address)))
		return;
	solver_add(solver,
		solver_implies(solver, solver_and(solver, solver_happens(solver, event), otherwise),
			solver_and(solver, outcomes_may_differ(solver, event),
				Z3_mk_le(solver->z3, solver->cuts[event.thread],
					Z3_mk_int(solver->z3,
						(int)outcomes_next_on_lock(solver, event),
						solver->integer)))));
}

void solver_add_operations(struct solver *solver)
{
	for (uint16_t thread = 0; thread < solver->order->thread_count; thread++)
		for (uint32_t i = solver->window->begin[thread];
			i < solver->window->end[thread] && !solver_is_late(solver); i++)
			outcomes_add_outcome(solver, (struct event_id){thread, i});
	for (uint32_t i = 0; i < solver->order->failure_count; i++)
		outcomes_add_taken(solver, &solver->order->failures[i]);
	for (uint32_t i = 0; i < solver->order->semaphore_count; i++)
		outcomes_add_semaphore(solver, &solver->order->semaphores[i]);
}
