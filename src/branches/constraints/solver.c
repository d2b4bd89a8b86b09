#include "branches/constraints/solver.h"

#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "base/slots.h"

Z3_ast solver_not(const struct solver *solver, Z3_ast a)
{
	return Z3_mk_not(solver->z3, a);
}

Z3_ast solver_and(struct solver *solver, Z3_ast a, Z3_ast b)
{
	solver->terms_made++;
	return Z3_mk_and(solver->z3, 2, (Z3_ast[]){a, b});
}

Z3_ast solver_or(struct solver *solver, Z3_ast a, Z3_ast b)
{
	if (!a)
		return b;
	solver->terms_made++;
	return Z3_mk_or(solver->z3, 2, (Z3_ast[]){a, b});
}

void solver_add(struct solver *solver, Z3_ast assertion)
{
	solver->count++;
	solver_assert(solver, assertion);
}

void solver_require(struct solver *solver, Z3_ast condition, Z3_ast requirement)
{
	solver->terms_made++;
	solver_add(solver, Z3_mk_implies(solver->z3, condition, requirement));
}

bool solver_is_late(struct solver *solver)
{
	struct timespec time;

	if (!solver->end_ns || solver->is_cut)
		return solver->is_cut;
	(void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail */
	solver->is_cut =
		(uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec > solver->end_ns;
	return solver->is_cut;
}

static Z3_ast solver_number(const struct solver *solver, uint32_t value)
{
	return Z3_mk_int(solver->z3, (int)value, solver->integer);
}

bool solver_is_past(const struct solver *solver, struct event_id event)
{
	return event.index < solver->window->begin[event.thread];
}

bool solver_has(const struct solver *solver, struct event_id event)
{
	return event.index < solver->window->end[event.thread];
}

Z3_ast solver_occurs(const struct solver *solver, struct event_id event)
{
	if (solver_is_past(solver, event))
		return Z3_mk_true(solver->z3);
	if (!solver_has(solver, event))
		return Z3_mk_false(solver->z3);
	return Z3_mk_gt(solver->z3, solver->cuts[event.thread], solver_number(solver, event.index));
}

Z3_ast solver_stops_before(const struct solver *solver, struct event_id event)
{
	return Z3_mk_eq(solver->z3, solver->cuts[event.thread], solver_number(solver, event.index));
}

Z3_ast solver_stops_by(const struct solver *solver, struct event_id event)
{
	return Z3_mk_le(solver->z3, solver->cuts[event.thread], solver_number(solver, event.index));
}

Z3_ast solver_reaches(const struct solver *solver, struct event_id event)
{
	return Z3_mk_ge(solver->z3, solver->cuts[event.thread], solver_number(solver, event.index));
}

static Z3_ast solver_time(const struct solver *solver, struct event_id event)
{
	Z3_ast *times = solver->times[event.thread];

	/* An event without a time happens right after the previous event with a time. */
	for (uint32_t i = event.index + 1; i-- > solver->window->begin[event.thread];)
		if (times[i])
			return times[i];
	return solver_number(solver, 0);
}

Z3_ast solver_before(struct solver *solver, struct event_id first, struct event_id second)
{
	solver->terms_made++;
	return Z3_mk_lt(solver->z3, solver_time(solver, first), solver_time(solver, second));
}

void solver_add_distinct(struct solver *solver, struct event_id first, struct event_id second)
{
	if (first.thread == second.thread || !solver_is_in_window(solver, first) ||
		!solver_is_in_window(solver, second) ||
		order_is_before(solver->order, first, second) ||
		order_is_before(solver->order, second, first))
		return;
	solver_add(solver, solver_or(solver, solver_before(solver, first, second),
				   solver_before(solver, second, first)));
}

static Z3_ast solver_switch_takes_edge(
	struct solver *solver, const struct walk_event *event, Z3_ast value)
{
	struct term *term = walk_event_term(solver->walk, event);
	const unsigned count = LLVMGetNumSuccessors(event_instruction(event));
	Z3_ast result = Z3_mk_true(solver->z3);

	for (unsigned i = 1; i < count; i++) {
		Z3_ast is_case = Z3_mk_eq(solver->z3, value,
			solver_bits(solver, term->width,
				LLVMConstIntGetZExtValue(
					LLVMGetOperand(event_instruction(event), 2 * i))));

		if (i == event->case_value)
			return is_case;
		result = solver_and(solver, result, solver_not(solver, is_case));
	}
	return result;
}

Z3_ast solver_equals(struct solver *solver, struct term *term, uint64_t value)
{
	return Z3_mk_eq(
		solver->z3, solver_term(solver, term), solver_bits(solver, term->width, value));
}

static Z3_ast solver_is_outside(struct solver *solver, const struct walk_event *event)
{
	struct term *term = walk_event_term(solver->walk, event);
	Z3_ast at = solver_term(solver, term);

	return solver_or(solver,
		Z3_mk_bvult(solver->z3, at, solver_bits(solver, 64, event->address)),
		Z3_mk_bvuge(solver->z3, at,
			solver_bits(solver, 64, event->address + event->occurrence)));
}

/* Returns the condition that the term is one of the possible addresses; without open addresses, the
 * recorded one. */
static Z3_ast solver_is_one_of_addresses(struct solver *solver, const struct walk_event *event)
{
	struct term *term = walk_event_term(solver->walk, event);
	const struct address_set *set =
		solver->has_open_addresses ? addresses_find(&solver->order->addresses, term) : NULL;
	Z3_ast any = solver_equals(solver, term, event->value);

	for (uint32_t i = 1; set && i < set->count; i++)
		any = solver_or(solver, any, solver_equals(solver, term, set->items[i]));
	return any;
}

Z3_ast solver_as_it_was(struct solver *solver, const struct walk_event *event)
{
	struct term *term = walk_event_term(solver->walk, event);
	switch (event->kind) {
	case EVENT_BRANCH:
		if (LLVMIsASwitchInst(event_instruction(event)))
			return solver_switch_takes_edge(solver, event, solver_term(solver, term));
		return solver_equals(solver, term, event->is_taken);
	case EVENT_CHOICE:
		return NULL; /* another result changes no control flow */
	case EVENT_TARGET:
		return NULL; /* constrained by the EVENT_ADDRESS that follows */
	case EVENT_DIVISOR:
		return event->value ? solver_not(solver, solver_equals(solver, term, 0))
				    : solver_equals(solver, term, 0);
	case EVENT_INDEX:
		if (event->is_open)
			return solver_not(solver, solver_is_outside(solver, event));
		return solver_equals(solver, term, event->value);
	case EVENT_ADDRESS:
		return event->is_open ? solver_is_one_of_addresses(solver, event)
				      : solver_equals(solver, term, event->value);
	case EVENT_VALUE:
		return solver_equals(solver, term, event->value);
	default:
		return NULL;
	}
}

/* A pointer to a member behind a null pointer counts as null, too. */
static Z3_ast solver_is_null(struct solver *solver, const struct walk_event *event)
{
	struct term *term = walk_event_term(solver->walk, event);
	return Z3_mk_bvult(
		solver->z3, solver_term(solver, term), solver_bits(solver, term->width, NULL_PAGE));
}

static Z3_ast solver_is_elsewhere(struct solver *solver, const struct walk_event *event)
{
	struct term *term = walk_event_term(solver->walk, event);

	return solver_not(solver, solver_or(solver, solver_equals(solver, term, event->value),
					  solver_is_null(solver, event)));
}

Z3_ast solver_otherwise(struct solver *solver, const struct walk_event *event)
{
	struct term *term = walk_event_term(solver->walk, event);
	switch (event->kind) {
	case EVENT_BRANCH:
		return solver_not(solver, solver_as_it_was(solver, event));
	case EVENT_CHOICE:
		return solver_equals(solver, term, !event->is_taken);
	case EVENT_DIVISOR:
		return event->value ? solver_equals(solver, term, 0) : NULL;
	case EVENT_INDEX:
		return solver_is_outside(solver, event);
	case EVENT_TARGET:
		return solver_is_elsewhere(solver, event);
	case EVENT_ADDRESS:
		return solver_is_null(solver, event);
	default:
		return NULL;
	}
}

static void solver_add_thread(struct solver *solver, uint16_t thread)
{
	const struct walked_thread *walked = &solver->walk->threads[thread];
	const uint32_t begin = solver->window->begin[thread];
	const uint32_t end = solver->window->end[thread];
	Z3_ast before = solver_number(solver, 0);
	Z3_ast *times = array_new(walked->count + 1, sizeof(Z3_ast));
	solver->times[thread] = times;
	solver->cuts[thread] = Z3_mk_fresh_const(solver->z3, "cut", solver->integer);
	solver_add(
		solver, Z3_mk_ge(solver->z3, solver->cuts[thread], solver_number(solver, begin)));
	solver_add(solver, Z3_mk_le(solver->z3, solver->cuts[thread], solver_number(solver, end)));
	for (uint32_t i = begin; i < end; i++) {
		if (!event_is_step(&walked->events[i]))
			continue;
		times[i] = Z3_mk_fresh_const(solver->z3, "at", solver->integer);
		solver_add(solver, Z3_mk_lt(solver->z3, before, times[i]));
		before = times[i];
	}
}

/* Adds constraints: the thread's branches before its cut have their recorded outcomes, and values
 * that are not modelled stay equal. The cut does not divide an atomic update, or the pieces of a
 * copy. */
static void solver_add_outcomes(struct solver *solver, uint16_t thread)
{
	const struct walked_thread *walked = &solver->walk->threads[thread];

	for (uint32_t i = solver->window->begin[thread]; i < solver->window->end[thread]; i++) {
		const struct walk_event *event = &walked->events[i];
		const struct event_id id = {thread, i};
		Z3_ast outcome;

		if (solver_is_late(solver))
			return;
		if (event->is_atomic)
			solver_add(solver, solver_not(solver, solver_stops_before(solver, id)));
		outcome = solver_as_it_was(solver, event);
		if (outcome)
			solver_require(solver, solver_occurs(solver, id), outcome);
	}
}

static Z3_ast solver_is_left_before(struct solver *solver, const struct order_section *first,
	const struct order_section *second)
{
	const struct event_id end = {first->thread, first->end};
	const struct event_id begin = {second->thread, second->begin};

	if (first->end == UINT32_MAX || !solver_has(solver, end))
		return Z3_mk_false(solver->z3);
	return solver_and(solver, solver_occurs(solver, end), solver_before(solver, end, begin));
}

static void solver_exclude(
	struct solver *solver, const struct order_section *a, const struct order_section *b)
{
	const struct event_id first = {a->thread, a->begin}, second = {b->thread, b->begin};

	if (a->lock != b->lock || a->thread == b->thread || (a->is_shared && b->is_shared))
		return;
	/* Happens-before already orders these pairs. */
	if ((a->end != UINT32_MAX &&
		    order_is_before(solver->order, (struct event_id){a->thread, a->end}, second)) ||
		(b->end != UINT32_MAX && order_is_before(solver->order,
						 (struct event_id){b->thread, b->end}, first)))
		return;
	solver_require(solver,
		solver_and(solver, solver_is_as_recorded(solver, first),
			solver_is_as_recorded(solver, second)),
		solver_or(solver, solver_is_left_before(solver, a, b),
			solver_is_left_before(solver, b, a)));
}

Z3_ast solver_is_inside(
	struct solver *solver, struct event_id event, const struct order_section *section)
{
	const struct event_id begin = {section->thread, section->begin};
	const struct event_id end = {section->thread, section->end};
	Z3_ast in = solver_and(
		solver, solver_is_as_recorded(solver, begin), solver_before(solver, begin, event));

	if (section->end == UINT32_MAX || !solver_has(solver, end))
		return in;
	return solver_and(solver, in,
		solver_or(solver, solver_not(solver, solver_occurs(solver, end)),
			solver_before(solver, event, end)));
}

static void solver_add_locks(struct solver *solver)
{
	const struct order *order = solver->order;
	FREE_SCOPED const struct order_section **sections =
		array_new(order->section_count + 1u, sizeof(*sections));
	uint32_t count = 0;

	for (uint32_t i = 0; i < order->section_count; i++)
		if (solver_counts(solver, &order->sections[i]))
			sections[count++] = &order->sections[i];
	for (uint32_t i = 0; i < count && !solver_is_late(solver); i++)
		for (uint32_t j = i + 1; j < count; j++)
			solver_exclude(solver, sections[i], sections[j]);
}

/* Adds constraints: a try-lock that fails finds the lock held, perhaps by its own thread. */
static void solver_add_failed_tries(struct solver *solver)
{
	const struct order *order = solver->order;

	for (uint32_t i = 0; i < order->failure_count; i++)
		if (solver_is_in_window(solver, order->failures[i].event))
			solver_require(solver,
				solver_is_as_recorded(solver, order->failures[i].event),
				solver_is_locked(solver, &order->failures[i], ORDER_NOBODY));
}

static void solver_ignore_error(Z3_context z3, Z3_error_code code)
{
	(void)z3;
	(void)code; /* results are checked where they are used */
}

void solver_open(struct solver *solver, const struct solver_question *question)
{
	const uint32_t threads = question->walk->record->thread_count;
	Z3_config configuration = Z3_mk_config();

	*solver = (struct solver){.walk = question->walk,
		.order = question->order,
		.window = question->window,
		.has_open_addresses = question->has_open_addresses,
		.end_ns = question->end_ns};
	solver->z3 = Z3_mk_context(configuration);
	Z3_del_config(configuration);
	Z3_set_error_handler(solver->z3, solver_ignore_error);
	solver->handle = Z3_mk_simple_solver(solver->z3);
	Z3_solver_inc_ref(solver->z3, solver->handle);
	solver->integer = Z3_mk_int_sort(solver->z3);
	solver->times = array_new(threads + 1u, sizeof *solver->times);
	solver->cuts = array_new(threads + 1u, sizeof *solver->cuts);
	for (uint32_t i = 0; i < threads; i++)
		solver_add_thread(solver, (uint16_t)i);
	solver_list_sections(solver);
	solver_add_edges(solver);
	solver_add_rounds(solver);
	solver_add_locks(solver);
	solver_add_failed_tries(solver);
	solver_add_operations(solver);
	solver_add_conditions(solver);
	solver_add_memory(solver);
	for (uint32_t i = 0; i < threads; i++)
		solver_add_outcomes(solver, (uint16_t)i);
}

void solver_close(struct solver *solver)
{
	for (uint32_t i = 0; i < solver->walk->record->thread_count; i++)
		free(solver->times[i]);
	solver_release_sections(solver);
	solver_release_conditions(solver);
	free(solver->times);
	free(solver->cuts);
	slots_release(&solver->terms);
	Z3_solver_dec_ref(solver->z3, solver->handle);
	Z3_del_context(solver->z3);
	*solver = (struct solver){0};
}
