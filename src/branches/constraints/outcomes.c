/*
 * Results of operations that may differ from the run: try-locks, semaphores, and the last arrival
 * at a barrier (rounds.c). A thread with another result continues on its recorded path while its
 * branches have their recorded outcomes. After a try-lock with another result, the thread continues
 * only up to its next operation on the lock.
 */
#include "base/array.h"
#include "model/op.h"
#include "branches/constraints/solver.h"

Z3_ast solver_differs_from_run(struct solver *solver, struct event_id event)
{
	const struct walk_event *of = walk_event_of(solver->walk, event);

	return of->kind == EVENT_OP && of->term && solver_is_in_window(solver, event)
		       ? solver_equals(solver, walk_event_term(solver->walk, of), of->address)
		       : NULL;
}

Z3_ast solver_is_as_recorded(struct solver *solver, struct event_id event)
{
	Z3_ast otherwise = solver_differs_from_run(solver, event);
	Z3_ast happens = solver_occurs(solver, event);

	return otherwise ? solver_and(solver, happens, solver_not(solver, otherwise)) : happens;
}

Z3_ast solver_occurs_before(struct solver *solver, struct event_id event, struct event_id other)
{
	Z3_ast happens = solver_occurs(solver, event);

	return solver_is_in_window(solver, event)
		       ? solver_and(solver, happens, solver_before(solver, event, other))
		       : happens;
}

Z3_ast solver_is_not_before(struct solver *solver, struct event_id event, struct event_id other)
{
	Z3_ast never = solver_not(solver, solver_occurs(solver, event));

	return solver_is_in_window(solver, event)
		       ? solver_or(solver, never, solver_before(solver, other, event))
		       : never;
}

/* Returns the condition that the try-lock failed in the run, succeeds here, and the thread keeps
 * the lock; NULL if it never succeeds. */
static Z3_ast outcomes_is_taken(struct solver *solver, const struct order_attempt *failure)
{
	Z3_ast otherwise = solver_differs_from_run(solver, failure->event);

	return otherwise ? solver_and(solver, solver_occurs(solver, failure->event), otherwise)
			 : NULL;
}

Z3_ast solver_is_locked(struct solver *solver, const struct order_attempt *attempt, uint16_t but)
{
	const struct order *order = solver->order;
	Z3_ast any = Z3_mk_false(solver->z3);

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];

		if (section->lock == attempt->lock && section->thread != but &&
			!(section->is_shared && attempt->is_shared) &&
			solver_counts(solver, section))
			any = solver_or(
				solver, any, solver_is_inside(solver, attempt->event, section));
	}
	for (uint32_t i = 0; i < order->failure_count; i++) {
		const struct order_attempt *failure = &order->failures[i];
		Z3_ast taken;

		if (failure->lock != attempt->lock ||
			failure->event.thread == attempt->event.thread ||
			(failure->is_shared && attempt->is_shared))
			continue;
		taken = outcomes_is_taken(solver, failure);
		if (taken)
			any = solver_or(solver, any,
				solver_and(solver, taken,
					solver_before(solver, failure->event, attempt->event)));
	}
	return any;
}

/* Adds constraints: a lock acquired by such a try-lock excludes the sections of other threads. */
static void outcomes_add_taken(struct solver *solver, const struct order_attempt *failure)
{
	const struct order *order = solver->order;
	Z3_ast taken = outcomes_is_taken(solver, failure);

	for (uint32_t i = 0; taken && i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		const struct event_id begin = {section->thread, section->begin};
		const struct event_id end = {section->thread, section->end};
		Z3_ast out;

		if (!order_excludes(section, failure) || !solver_counts(solver, section))
			continue;
		out = solver_not(solver, solver_is_as_recorded(solver, begin));
		if (section->end != UINT32_MAX)
			out = solver_or(
				solver, out, solver_occurs_before(solver, end, failure->event));
		solver_require(solver, taken, out);
	}
	for (const struct order_attempt *other = failure;
		taken && ++other < order->failures + order->failure_count;) {
		Z3_ast also = other->lock == failure->lock &&
					      other->event.thread != failure->event.thread &&
					      !(other->is_shared && failure->is_shared)
				      ? outcomes_is_taken(solver, other)
				      : NULL;

		if (also)
			solver_add(solver, solver_not(solver, solver_and(solver, taken, also)));
	}
}

/* Returns the condition that no other thread holds the lock of a try-lock that failed in the run. */
static Z3_ast outcomes_is_free(struct solver *solver, const struct order_attempt *attempt)
{
	const struct order *order = solver->order;
	Z3_ast result = Z3_mk_true(solver->z3);

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];
		const struct event_id begin = {section->thread, section->begin};
		const struct event_id end = {section->thread, section->end};
		Z3_ast out;

		if (!order_excludes(section, attempt) || !solver_counts(solver, section))
			continue;
		out = solver_is_not_before(solver, begin, attempt->event);
		if (section->end != UINT32_MAX)
			out = solver_or(
				solver, out, solver_occurs_before(solver, end, attempt->event));
		result = solver_and(solver, result, out);
	}
	return result;
}

/* Returns the condition that the try-lock's recorded result contradicts the state of the lock here.
 * If the calling thread itself holds the lock, the result is the same in each schedule: the condition
 * is false. */
static Z3_ast outcomes_try_differs(struct solver *solver, struct event_id event)
{
	const struct order *order = solver->order;
	const struct record_op *op = walk_op_of(solver->walk, event);
	const struct order_attempt attempt = {
		op->address, event, op_descriptions[op->kind].flags & OP_READ};

	for (uint32_t i = 0; i < order->section_count; i++) {
		const struct order_section *section = &order->sections[i];

		if (section->lock == op->address && section->thread == event.thread &&
			section->begin < event.index && section->end > event.index &&
			solver_counts(solver, section))
			return Z3_mk_false(solver->z3);
	}
	return op->flags & RECORD_OP_FAILED ? outcomes_is_free(solver, &attempt)
					    : solver_is_locked(solver, &attempt, event.thread);
}

/* Returns the condition that the semaphore's value, computed from posts and waits, is at least, or
 * exactly, `value`. */
static Z3_ast outcomes_has_value(struct solver *solver, const struct order_semaphore *semaphore,
	const struct order_use *use, uint32_t value, bool is_exact)
{
	FREE_SCOPED Z3_ast *parts = array_new(semaphore->count, sizeof *parts);
	FREE_SCOPED int *factors = array_new(semaphore->count, sizeof *factors);
	int wanted = (int)value - (int)semaphore->value;
	unsigned count = 0;

	for (uint32_t i = 0; i < semaphore->count; i++) {
		const struct order_use *other = &semaphore->uses[i];
		Z3_ast before;

		if (other == use || other->kind == OP_SEM_READ)
			continue;
		before = solver_occurs_before(solver, other->event, use->event);
		if (other->kind == OP_SEM_WAIT) {
			Z3_ast otherwise = solver_differs_from_run(solver, other->event);

			if (other->has_failed && !otherwise)
				continue;
			if (otherwise)
				before = solver_and(solver, before,
					other->has_failed ? otherwise
							  : solver_not(solver, otherwise));
			before = solver_not(solver, before);
		}
		wanted += other->kind == OP_SEM_WAIT;
		factors[count] = 1;
		parts[count++] = before;
	}
	if (!count) { /* a sum needs a summand */
		factors[count] = 1;
		parts[count++] = Z3_mk_true(solver->z3);
		wanted++;
	}
	solver->terms_made += count;
	return is_exact ? Z3_mk_pbeq(solver->z3, count, parts, factors, wanted)
			: Z3_mk_pbge(solver->z3, count, parts, factors, wanted);
}

static void outcomes_add_use(
	struct solver *solver, const struct order_semaphore *semaphore, const struct order_use *use)
{
	Z3_ast otherwise = solver_differs_from_run(solver, use->event);
	const bool is_read = use->kind == OP_SEM_READ, has_failed = use->has_failed;

	if (use->kind == OP_SEM_POST)
		return;
	solver_require(solver, solver_is_as_recorded(solver, use->event),
		outcomes_has_value(solver, semaphore, use,
			is_read	     ? use->value
			: has_failed ? 0
				     : 1,
			is_read || has_failed));
	if (otherwise)
		solver_require(solver, otherwise,
			outcomes_has_value(solver, semaphore, use, has_failed, !has_failed));
}

static void outcomes_add_semaphore(struct solver *solver, const struct order_semaphore *semaphore)
{
	for (uint32_t i = 0; i < semaphore->count && !solver_is_late(solver); i++) {
		if (!solver_is_in_window(solver, semaphore->uses[i].event))
			continue;
		outcomes_add_use(solver, semaphore, &semaphore->uses[i]);
		for (uint32_t j = i + 1; j < semaphore->count; j++)
			solver_add_distinct(
				solver, semaphore->uses[i].event, semaphore->uses[j].event);
	}
}

/* Returns the thread's next operation on the lock, which it does not reach with another result. */
static struct event_id outcomes_next_on_lock(const struct solver *solver, struct event_id event)
{
	const struct walked_thread *walked = &solver->walk->threads[event.thread];
	const uint64_t lock = walk_op_of(solver->walk, event)->address;

	while (++event.index < walked->count) {
		const struct record_op *op = walk_op_of(solver->walk, event);

		if (walked->events[event.index].kind == EVENT_OP &&
			(!op || op->address == lock ||
				(op->kind == OP_COND_WAIT && op->argument == lock)))
			break;
	}
	return event;
}

/* Constrains the result of one operation, unless its barrier or semaphore does. */
static void outcomes_add_outcome(struct solver *solver, struct event_id event)
{
	struct term *term = walk_event_term(solver->walk, walk_event_of(solver->walk, event));
	const struct record_op *op = walk_op_of(solver->walk, event);
	Z3_ast otherwise = solver_differs_from_run(solver, event);
	bool is_try;

	if (!otherwise)
		return;
	if (!op) /* the result of an unknown operation is as recorded */
		solver_add(solver, solver_not(solver, otherwise));
	solver_add(solver, solver_or(solver, otherwise, solver_equals(solver, term, term->value)));
	if (!op || solver_has_open_round(solver, event) ||
		(op->kind == OP_SEM_TRYWAIT && order_has_semaphore(solver->order, op->address)))
		return;
	is_try = op->kind != OP_BARRIER_ARRIVE && op->kind != OP_SEM_TRYWAIT;
	solver_require(solver, solver_and(solver, solver_occurs(solver, event), otherwise),
		solver_and(solver,
			is_try ? outcomes_try_differs(solver, event) : Z3_mk_false(solver->z3),
			solver_stops_by(solver, outcomes_next_on_lock(solver, event))));
}

void solver_add_operations(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint16_t thread = 0; thread < order->thread_count; thread++)
		for (uint32_t i = solver->window->begin[thread];
			i < solver->window->end[thread] && !solver_is_late(solver); i++)
			outcomes_add_outcome(solver, (struct event_id){thread, i});
	for (uint32_t i = 0; i < order->failure_count; i++)
		outcomes_add_taken(solver, &order->failures[i]);
	for (uint32_t i = 0; i < order->semaphore_count; i++)
		outcomes_add_semaphore(solver, &order->semaphores[i]);
}
