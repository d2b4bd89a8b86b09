#include "branches/constraints/constraints.h"

#include <stdlib.h>
#include <time.h>

#include "base/array.h"
#include "branches/values/slots.h"

Z3_ast constraints_and(struct constraints *constraints, Z3_ast a, Z3_ast b)
{
	constraints->terms_made++;
	return Z3_mk_and(constraints->z3, 2, (Z3_ast[]){a, b});
}

Z3_ast constraints_or(struct constraints *constraints, Z3_ast a, Z3_ast b)
{
	constraints->terms_made++;
	return Z3_mk_or(constraints->z3, 2, (Z3_ast[]){a, b});
}

Z3_ast constraints_implies(struct constraints *constraints, Z3_ast a, Z3_ast b)
{
	constraints->terms_made++;
	return Z3_mk_implies(constraints->z3, a, b);
}

void constraints_add(struct constraints *constraints, Z3_ast assertion)
{
	constraints->count++;
	Z3_solver_assert(constraints->z3, constraints->solver, assertion);
}

bool constraints_is_late(struct constraints *constraints)
{
	struct timespec time;

	if (!constraints->end_ns || constraints->is_cut)
		return constraints->is_cut;
	(void)clock_gettime(CLOCK_MONOTONIC, &time); /* cannot fail */
	constraints->is_cut =
		(uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec > constraints->end_ns;
	return constraints->is_cut;
}

static Z3_ast constraints_number(const struct constraints *constraints, uint32_t value)
{
	return Z3_mk_int(constraints->z3, (int)value, constraints->integer);
}

bool constraints_is_past(const struct constraints *constraints, struct event_id event)
{
	return event.index < constraints->window->begin[event.thread];
}

bool constraints_has(const struct constraints *constraints, struct event_id event)
{
	return event.index < constraints->window->end[event.thread];
}

Z3_ast constraints_happens(const struct constraints *constraints, struct event_id event)
{
	if (constraints_is_past(constraints, event))
		return Z3_mk_true(constraints->z3);
	if (!constraints_has(constraints, event))
		return Z3_mk_false(constraints->z3);
	return Z3_mk_gt(constraints->z3, constraints->cuts[event.thread],
		constraints_number(constraints, event.index));
}

static Z3_ast constraints_time(const struct constraints *constraints, struct event_id event)
{
	Z3_ast *times = constraints->times[event.thread];

	/* An event without a time happens right after the previous event with a time. */
	for (uint32_t i = event.index + 1; i-- > constraints->window->begin[event.thread];)
		if (times[i])
			return times[i];
	return constraints_number(constraints, 0);
}

Z3_ast constraints_before(
	struct constraints *constraints, struct event_id first, struct event_id second)
{
	constraints->terms_made++;
	return Z3_mk_lt(constraints->z3, constraints_time(constraints, first),
		constraints_time(constraints, second));
}

static Z3_ast constraints_switch_takes_edge(
	struct constraints *constraints, const struct walk_event *event, Z3_ast value)
{
	struct term *term = walk_event_term(constraints->walk, event);
	const unsigned count = LLVMGetNumSuccessors(event_instruction(event));
	Z3_ast result = Z3_mk_true(constraints->z3);

	for (unsigned i = 1; i < count; i++) {
		Z3_ast is_case = Z3_mk_eq(constraints->z3, value,
			constraints_bits(constraints, term->width,
				LLVMConstIntGetZExtValue(
					LLVMGetOperand(event_instruction(event), 2 * i))));

		if (i == event->case_value)
			return is_case;
		result = constraints_and(constraints, result, Z3_mk_not(constraints->z3, is_case));
	}
	return result;
}

static Z3_ast constraints_equals(struct constraints *constraints, struct term *term, uint64_t value)
{
	return Z3_mk_eq(constraints->z3, constraints_term(constraints, term),
		constraints_bits(constraints, term->width, value));
}

static Z3_ast constraints_is_outside(
	struct constraints *constraints, const struct walk_event *event)
{
	struct term *term = walk_event_term(constraints->walk, event);
	Z3_ast at = constraints_term(constraints, term);

	return constraints_or(constraints,
		Z3_mk_bvult(constraints->z3, at, constraints_bits(constraints, 64, event->address)),
		Z3_mk_bvuge(constraints->z3, at,
			constraints_bits(constraints, 64, event->address + event->occurrence)));
}

/* Returns the condition that the term is one of the possible addresses; without open addresses, the
 * recorded one. */
static Z3_ast constraints_is_one_of_addresses(
	struct constraints *constraints, const struct walk_event *event)
{
	struct term *term = walk_event_term(constraints->walk, event);
	const struct address_set *set =
		constraints->has_open_addresses
			? addresses_find(&constraints->order->addresses, term)
			: NULL;
	Z3_ast any = constraints_equals(constraints, term, event->value);

	for (uint32_t i = 1; set && i < set->count; i++)
		any = constraints_or(
			constraints, any, constraints_equals(constraints, term, set->items[i]));
	return any;
}

Z3_ast constraints_as_it_was(struct constraints *constraints, const struct walk_event *event)
{
	struct term *term = walk_event_term(constraints->walk, event);
	switch (event->kind) {
	case EVENT_BRANCH:
		if (LLVMIsASwitchInst(event_instruction(event)))
			return constraints_switch_takes_edge(
				constraints, event, constraints_term(constraints, term));
		return constraints_equals(constraints, term, event->is_taken);
	case EVENT_CHOICE:
		return NULL; /* another result changes no control flow */
	case EVENT_TARGET:
		return NULL; /* constrained by the EVENT_ADDRESS that follows */
	case EVENT_DIVISOR:
		return event->value ? Z3_mk_not(constraints->z3,
					      constraints_equals(constraints, term, 0))
				    : constraints_equals(constraints, term, 0);
	case EVENT_INDEX:
		if (event->is_open)
			return Z3_mk_not(
				constraints->z3, constraints_is_outside(constraints, event));
		return constraints_equals(constraints, term, event->value);
	case EVENT_ADDRESS:
		return event->is_open ? constraints_is_one_of_addresses(constraints, event)
				      : constraints_equals(constraints, term, event->value);
	case EVENT_VALUE:
		return constraints_equals(constraints, term, event->value);
	default:
		return NULL;
	}
}

/* A pointer to a member behind a null pointer counts as null, too. */
static Z3_ast constraints_is_null(struct constraints *constraints, const struct walk_event *event)
{
	struct term *term = walk_event_term(constraints->walk, event);
	return Z3_mk_bvult(constraints->z3, constraints_term(constraints, term),
		constraints_bits(constraints, term->width, NULL_PAGE));
}

static Z3_ast constraints_is_elsewhere(
	struct constraints *constraints, const struct walk_event *event)
{
	struct term *term = walk_event_term(constraints->walk, event);
	Z3_ast either[2];

	either[0] = constraints_equals(constraints, term, event->value);
	either[1] = constraints_is_null(constraints, event);
	return Z3_mk_not(constraints->z3, Z3_mk_or(constraints->z3, 2, either));
}

Z3_ast constraints_otherwise(struct constraints *constraints, const struct walk_event *event)
{
	struct term *term = walk_event_term(constraints->walk, event);
	switch (event->kind) {
	case EVENT_BRANCH:
		return Z3_mk_not(constraints->z3, constraints_as_it_was(constraints, event));
	case EVENT_CHOICE:
		return constraints_equals(constraints, term, !event->is_taken);
	case EVENT_DIVISOR:
		return event->value ? constraints_equals(constraints, term, 0) : NULL;
	case EVENT_INDEX:
		return constraints_is_outside(constraints, event);
	case EVENT_TARGET:
		return constraints_is_elsewhere(constraints, event);
	case EVENT_ADDRESS:
		return constraints_is_null(constraints, event);
	default:
		return NULL;
	}
}

static bool constraints_has_time(const struct walk_event *event)
{
	return event->kind == EVENT_OP ||
	       ((event->kind == EVENT_READ || event->kind == EVENT_WRITE) && !event->is_atomic);
}

static void constraints_add_thread(struct constraints *constraints, uint16_t thread)
{
	const struct walked_thread *walked = &constraints->walk->threads[thread];
	const uint32_t begin = constraints->window->begin[thread];
	const uint32_t end = constraints->window->end[thread];
	Z3_ast before = constraints_number(constraints, 0);
	Z3_ast *times = array_new(walked->count + 1, sizeof(Z3_ast));
	constraints->times[thread] = times;
	constraints->cuts[thread] = Z3_mk_fresh_const(constraints->z3, "cut", constraints->integer);
	constraints_add(constraints, Z3_mk_ge(constraints->z3, constraints->cuts[thread],
					     constraints_number(constraints, begin)));
	constraints_add(constraints, Z3_mk_le(constraints->z3, constraints->cuts[thread],
					     constraints_number(constraints, end)));
	for (uint32_t i = begin; i < end; i++) {
		if (!constraints_has_time(&walked->events[i]))
			continue;
		times[i] = Z3_mk_fresh_const(constraints->z3, "at", constraints->integer);
		constraints_add(constraints, Z3_mk_lt(constraints->z3, before, times[i]));
		before = times[i];
	}
}

/* Adds constraints: the thread's branches before its cut have their recorded outcomes, and values
 * that are not modelled stay equal. The cut does not divide an atomic update, or the pieces of a
 * copy. */
static void constraints_add_outcomes(struct constraints *constraints, uint16_t thread)
{
	const struct walked_thread *walked = &constraints->walk->threads[thread];

	for (uint32_t i = constraints->window->begin[thread]; i < constraints->window->end[thread];
		i++) {
		const struct walk_event *event = &walked->events[i];
		const struct event_id id = {thread, i};
		Z3_ast outcome;

		if (constraints_is_late(constraints))
			return;
		if (event->is_atomic)
			constraints_add(constraints,
				Z3_mk_not(constraints->z3,
					Z3_mk_eq(constraints->z3, constraints->cuts[thread],
						constraints_number(constraints, i))));
		outcome = constraints_as_it_was(constraints, event);
		if (outcome)
			constraints_add(constraints,
				constraints_implies(constraints,
					constraints_happens(constraints, id), outcome));
	}
}

static Z3_ast constraints_is_left_before(struct constraints *constraints,
	const struct order_section *first, const struct order_section *second)
{
	const struct event_id end = {first->thread, first->end};
	const struct event_id begin = {second->thread, second->begin};

	if (first->end == UINT32_MAX || !constraints_has(constraints, end))
		return Z3_mk_false(constraints->z3);
	return constraints_and(constraints, constraints_happens(constraints, end),
		constraints_before(constraints, end, begin));
}

static void constraints_exclude(struct constraints *constraints, const struct order_section *a,
	const struct order_section *b)
{
	const struct event_id first = {a->thread, a->begin}, second = {b->thread, b->begin};

	if (a->lock != b->lock || a->thread == b->thread || (a->is_shared && b->is_shared))
		return;
	/* Happens-before already orders these pairs. */
	if ((a->end != UINT32_MAX && order_is_before(constraints->order,
					     (struct event_id){a->thread, a->end}, second)) ||
		(b->end != UINT32_MAX && order_is_before(constraints->order,
						 (struct event_id){b->thread, b->end}, first)))
		return;
	constraints_add(constraints,
		constraints_implies(constraints,
			constraints_and(constraints, constraints_is_as_recorded(constraints, first),
				constraints_is_as_recorded(constraints, second)),
			constraints_or(constraints, constraints_is_left_before(constraints, a, b),
				constraints_is_left_before(constraints, b, a))));
}

Z3_ast constraints_is_inside(
	struct constraints *constraints, struct event_id event, const struct order_section *section)
{
	const struct event_id begin = {section->thread, section->begin};
	const struct event_id end = {section->thread, section->end};
	Z3_ast in = constraints_and(constraints, constraints_is_as_recorded(constraints, begin),
		constraints_before(constraints, begin, event));

	if (section->end == UINT32_MAX || !constraints_has(constraints, end))
		return in;
	return constraints_and(constraints, in,
		constraints_or(constraints,
			Z3_mk_not(constraints->z3, constraints_happens(constraints, end)),
			constraints_before(constraints, event, end)));
}

static void constraints_add_locks(struct constraints *constraints)
{
	const struct order *order = constraints->order;
	const struct order_section **sections =
		array_new(order->section_count + 1u, sizeof(*sections));
	uint32_t count = 0;

	for (uint32_t i = 0; i < order->section_count; i++)
		if (constraints_counts(constraints, &order->sections[i]))
			sections[count++] = &order->sections[i];
	for (uint32_t i = 0; i < count && !constraints_is_late(constraints); i++)
		for (uint32_t j = i + 1; j < count; j++)
			constraints_exclude(constraints, sections[i], sections[j]);
	free(sections);
}

static void constraints_add_failed_tries(struct constraints *constraints)
{
	const struct order *order = constraints->order;

	for (uint32_t i = 0; i < order->failure_count; i++) {
		const struct order_failure *failure = &order->failures[i];
		Z3_ast somewhere = Z3_mk_false(constraints->z3), taken;

		if (constraints_is_past(constraints, failure->event) ||
			!constraints_has(constraints, failure->event))
			continue;
		for (uint32_t j = 0; j < order->section_count; j++)
			if (order->sections[j].lock == failure->lock &&
				constraints_counts(constraints, &order->sections[j]))
				somewhere = constraints_or(constraints, somewhere,
					constraints_is_inside(
						constraints, failure->event, &order->sections[j]));
		taken = constraints_is_taken_before(
			constraints, failure->lock, failure->event, failure->is_shared);
		if (taken)
			somewhere = constraints_or(constraints, somewhere, taken);
		constraints_add(constraints,
			constraints_implies(constraints,
				constraints_is_as_recorded(constraints, failure->event),
				somewhere));
	}
}

static void constraints_ignore_error(Z3_context z3, Z3_error_code code)
{
	(void)z3;
	(void)code; /* results are checked where they are used */
}

void constraints_open(struct constraints *constraints, const struct walk *walk,
	const struct order *order, const struct order_window *window, enum constraints_kind kind,
	uint64_t end_ns)
{
	const uint32_t threads = walk->record->thread_count;
	Z3_config configuration = Z3_mk_config();

	*constraints = (struct constraints){.walk = walk,
		.order = order,
		.window = window,
		.has_open_addresses = kind == CONSTRAINTS_OPEN,
		.end_ns = end_ns};
	constraints->terms = slots_reserve(
		NULL, &constraints->term_capacity, sizeof *constraints->terms, 0, 1024);
	constraints->z3 = Z3_mk_context(configuration);
	Z3_del_config(configuration);
	Z3_set_error_handler(constraints->z3, constraints_ignore_error);
	constraints->solver = Z3_mk_simple_solver(constraints->z3);
	Z3_solver_inc_ref(constraints->z3, constraints->solver);
	constraints->integer = Z3_mk_int_sort(constraints->z3);
	constraints->times = array_new(threads + 1u, sizeof *constraints->times);
	constraints->cuts = array_new(threads + 1u, sizeof *constraints->cuts);
	for (uint32_t i = 0; i < threads; i++)
		constraints_add_thread(constraints, (uint16_t)i);
	constraints_list_sections(constraints);
	constraints_add_edges(constraints);
	constraints_add_rounds(constraints);
	constraints_add_locks(constraints);
	constraints_add_failed_tries(constraints);
	constraints_add_operations(constraints);
	constraints_add_conditions(constraints);
	constraints_add_memory(constraints);
	for (uint32_t i = 0; i < threads; i++)
		constraints_add_outcomes(constraints, (uint16_t)i);
}

void constraints_close(struct constraints *constraints)
{
	for (uint32_t i = 0; i < constraints->walk->record->thread_count; i++)
		free(constraints->times[i]);
	constraints_release_sections(constraints);
	constraints_release_conditions(constraints);
	free(constraints->times);
	free(constraints->cuts);
	free(constraints->terms);
	Z3_solver_dec_ref(constraints->z3, constraints->solver);
	Z3_del_context(constraints->z3);
	*constraints = (struct constraints){0};
}
