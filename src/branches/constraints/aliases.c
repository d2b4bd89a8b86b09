/*
 * Reads and writes with open addresses (addresses.c): the solver decides which of them access the
 * same place. All places that such an access may go to form one united group. Each read of the
 * group compares addresses with each write.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/constraints/solver.h"

/* Limit of reads times the square of writes in a united group. */
#define COST_MOST 60000

static const struct address_set *aliases_addresses_of(
	const struct solver *solver, const struct place_access *access)
{
	if (!solver->has_open_addresses || solver_is_past(solver, access->id))
		return NULL;
	return addresses_find(&solver->order->addresses,
		walk_event_at(solver->walk, walk_event_of(solver->walk, access->id)));
}

static uint32_t aliases_root_of(struct place_group *groups, uint32_t number)
{
	while (groups[number].united != number)
		number = groups[number].united = groups[groups[number].united].united;
	return number;
}

/* Returns the group of an address. UINT32_MAX: no access to the address before the window's end. */
static uint32_t aliases_group_at(const struct place_groups *groups, uint64_t address)
{
	uint32_t first;

	SEARCH(first, 0, groups->count,
		groups->accesses[groups->items[first].first].address < address);
	return first < groups->count &&
			       groups->accesses[groups->items[first].first].address == address
		       ? first
		       : UINT32_MAX;
}

static void aliases_unite(struct solver *solver, struct place_groups *groups, uint32_t number)
{
	const struct place_group *group = &groups->items[number];

	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const struct address_set *set = aliases_addresses_of(solver, &groups->accesses[i]);

		for (uint32_t j = 0; set && j < set->count; j++) {
			const uint32_t other = aliases_group_at(groups, set->items[j]);
			const uint32_t root = aliases_root_of(groups->items, number);

			if (other != UINT32_MAX)
				groups->items[aliases_root_of(groups->items, other)].united = root;
			groups->items[root].is_open = true;
		}
	}
}

struct meeting {
	struct solver *solver;
	const struct place_groups *groups;
	const struct place_access **items;
	uint32_t count;
	bool *is_candidate; /* by item: a write that the current read may see */
};

static void aliases_add_items(struct meeting *meeting, const struct place_group *group)
{
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		if (solver_is_past(meeting->solver, meeting->groups->accesses[i].id))
			continue;
		ARRAY_APPEND(meeting->items, meeting->count, &meeting->groups->accesses[i]);
	}
}

static bool aliases_is_too_costly(const struct meeting *meeting)
{
	uint64_t writes = 0;

	for (uint32_t i = 0; i < meeting->count; i++)
		writes += meeting->items[i]->is_write;
	return (meeting->count - writes) * writes * writes > COST_MOST;
}

static struct term *aliases_term_of(
	const struct meeting *meeting, const struct place_access *access)
{
	return aliases_addresses_of(meeting->solver, access)
		       ? walk_event_at(meeting->solver->walk,
				 walk_event_of(meeting->solver->walk, access->id))
		       : NULL;
}

static bool aliases_may_be_at(
	const struct meeting *meeting, const struct place_access *access, uint64_t address)
{
	const struct address_set *set = aliases_addresses_of(meeting->solver, access);

	for (uint32_t i = 0; set && i < set->count; i++)
		if (set->items[i] == address)
			return true;
	return !set && access->address == address;
}

static bool aliases_may_overlap(
	const struct meeting *meeting, const struct place_access *a, const struct place_access *b)
{
	const struct address_set *set = aliases_addresses_of(meeting->solver, a);

	for (uint32_t i = 0; set && i < set->count; i++)
		if (aliases_may_be_at(meeting, b, set->items[i]))
			return true;
	return !set && aliases_may_be_at(meeting, b, a->address);
}

/* Returns the condition that both accesses go to one address; NULL: always. Compares each term with
 * the few common addresses, as other constraints contain these comparisons, too. A direct
 * comparison of the two terms slows the solver down several times. */
static Z3_ast aliases_overlap(
	const struct meeting *meeting, const struct place_access *a, const struct place_access *b)
{
	struct solver *solver = meeting->solver;
	struct term *first = aliases_term_of(meeting, a), *second = aliases_term_of(meeting, b);
	const struct address_set *set = aliases_addresses_of(solver, a);
	Z3_ast any = NULL;

	if (first == second)
		return NULL;
	if (!first || !second)
		return solver_equals(
			meeting->solver, first ? first : second, first ? b->address : a->address);
	for (uint32_t i = 0; i < set->count; i++) {
		Z3_ast both;

		if (!aliases_may_be_at(meeting, b, set->items[i]))
			continue;
		both = solver_and(solver, solver_equals(meeting->solver, first, set->items[i]),
			solver_equals(meeting->solver, second, set->items[i]));
		any = any ? solver_or(solver, any, both) : both;
	}
	return any;
}

static bool aliases_may_be_read(const struct meeting *meeting, const struct place_access *read,
	const struct place_access *write)
{
	const struct order *order = meeting->solver->order;

	if (!write->is_write || order_is_before(order, read->id, write->id) ||
		(write->id.thread == read->id.thread && write->id.index > read->id.index) ||
		!aliases_may_overlap(meeting, read, write))
		return false;
	/* A write that is certainly overwritten before the read is no candidate. */
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct place_access *other = meeting->items[i];

		if (solver_is_certain(other) && other != write &&
			aliases_may_overlap(meeting, other, read) &&
			!aliases_overlap(meeting, other, read) &&
			order_is_before(order, write->id, other->id) &&
			order_is_before(order, other->id, read->id))
			return false;
	}
	return true;
}

/* Returns the condition that the read does not see the write: the write goes elsewhere, is not
 * made, or is not between `other` (NULL: start) and the read. */
static Z3_ast aliases_is_unseen(const struct meeting *meeting, const struct place_access *write,
	const struct place_access *other, const struct place_access *read)
{
	struct solver *solver = meeting->solver;
	const struct order *order = solver->order;
	Z3_ast meets = aliases_overlap(meeting, write, read);
	Z3_ast result = meets ? solver_not(solver, meets) : Z3_mk_false(solver->z3);

	if (write->is_conditional)
		result = solver_or(
			solver, result, solver_not(solver, solver_is_made(solver, write)));
	if (other && order_is_before(order, write->id, other->id))
		return Z3_mk_true(solver->z3);
	if (!order_is_before(order, write->id, read->id))
		result = solver_or(solver, result,
			solver_or(solver, solver_not(solver, solver_occurs(solver, write->id)),
				solver_before(solver, read->id, write->id)));
	if (other && !order_is_before(order, other->id, write->id))
		result = solver_or(solver, result, solver_before(solver, write->id, other->id));
	return result;
}

static Z3_ast aliases_gives(
	const struct meeting *meeting, const struct place_access *read, Z3_ast value)
{
	return Z3_mk_eq(meeting->solver->z3,
		solver_term(
			meeting->solver, walk_event_term(meeting->solver->walk,
						 walk_event_of(meeting->solver->walk, read->id))),
		value);
}

static Z3_ast aliases_reads_from(
	const struct meeting *meeting, const struct place_access *read, uint32_t number)
{
	struct solver *solver = meeting->solver;
	const struct place_access *write = meeting->items[number];
	Z3_ast meets = aliases_overlap(meeting, write, read);
	Z3_ast result =
		solver_and(solver, aliases_gives(meeting, read, solver_accessed(solver, write)),
			solver_and(solver, solver_occurs(solver, write->id),
				solver_before(solver, write->id, read->id)));

	if (meets)
		result = solver_and(solver, result, meets);
	if (write->is_conditional)
		result = solver_and(solver, result, solver_is_made(solver, write));
	for (uint32_t i = 0; i < meeting->count; i++)
		if (i != number && meeting->is_candidate[i])
			result = solver_and(solver, result,
				aliases_is_unseen(meeting, meeting->items[i], write, read));
	return result;
}

static bool aliases_find_initial(
	const struct meeting *meeting, uint64_t address, uint32_t bytes, uint64_t *value)
{
	const uint32_t number = aliases_group_at(meeting->groups, address);
	const struct place_group *group = &meeting->groups->items[number];

	if (number == UINT32_MAX)
		return walk_initial(meeting->solver->walk, address, bytes, value);
	return solver_find_initial(
		meeting->solver, &meeting->groups->accesses[group->first], group->count, value);
}

static bool aliases_is_written_before(
	const struct meeting *meeting, const struct place_access *read, uint64_t address)
{
	for (uint32_t i = 0; i < meeting->count; i++)
		if (meeting->is_candidate[i] && solver_is_certain(meeting->items[i]) &&
			!aliases_addresses_of(meeting->solver, meeting->items[i]) &&
			meeting->items[i]->address == address &&
			order_is_before(meeting->solver->order, meeting->items[i]->id, read->id))
			return true;
	return false;
}

/* Returns the condition that the read returns the initial value of this address; NULL if
 * impossible. */
static Z3_ast aliases_reads_initial(
	const struct meeting *meeting, const struct place_access *read, uint64_t address)
{
	struct solver *solver = meeting->solver;
	struct term *term = aliases_term_of(meeting, read);
	uint64_t value;
	Z3_ast result;

	if (aliases_is_written_before(meeting, read, address) ||
		!aliases_find_initial(meeting, address, read->bytes, &value))
		return NULL;
	result = aliases_gives(meeting, read, solver_bits(solver, 8u * read->bytes, value));
	if (term)
		result = solver_and(solver, result, solver_equals(meeting->solver, term, address));
	for (uint32_t i = 0; i < meeting->count; i++)
		if (meeting->is_candidate[i] &&
			aliases_may_be_at(meeting, meeting->items[i], address))
			result = solver_and(solver, result,
				aliases_is_unseen(meeting, meeting->items[i], NULL, read));
	return result;
}

static void aliases_add_read(struct meeting *meeting, const struct place_access *read)
{
	struct solver *solver = meeting->solver;
	const struct address_set *set = aliases_addresses_of(solver, read);
	Z3_ast any = Z3_mk_false(solver->z3);

	for (uint32_t i = 0; i < meeting->count; i++)
		meeting->is_candidate[i] = aliases_may_be_read(meeting, read, meeting->items[i]);
	for (uint32_t i = 0; i < meeting->count; i++)
		if (meeting->is_candidate[i])
			any = solver_or(solver, any, aliases_reads_from(meeting, read, i));
	for (uint32_t i = 0; i < (set ? set->count : 1u); i++) {
		Z3_ast initial =
			aliases_reads_initial(meeting, read, set ? set->items[i] : read->address);

		if (initial)
			any = solver_or(solver, any, initial);
	}
	solver_require(solver, solver_occurs(solver, read->id), any);
}

static void aliases_keep_addresses(struct meeting *meeting)
{
	for (uint32_t i = 0; i < meeting->count; i++) {
		struct term *term = aliases_term_of(meeting, meeting->items[i]);

		if (term)
			solver_require(meeting->solver,
				solver_occurs(meeting->solver, meeting->items[i]->id),
				solver_equals(meeting->solver, term, meeting->items[i]->address));
	}
}

static void aliases_add_group(struct solver *solver, struct place_groups *groups, uint32_t root)
{
	struct meeting meeting = {.solver = solver, .groups = groups};
	bool is_open;

	for (uint32_t i = 0; i < groups->count; i++)
		if (aliases_root_of(groups->items, i) == root)
			aliases_add_items(&meeting, &groups->items[i]);
	is_open = !aliases_is_too_costly(&meeting);
	if (!is_open)
		aliases_keep_addresses(&meeting);
	meeting.is_candidate = array_new(meeting.count + 1u, sizeof *meeting.is_candidate);
	for (uint32_t i = 0; is_open && i < meeting.count && !solver_is_late(solver); i++)
		if (!meeting.items[i]->is_write)
			aliases_add_read(&meeting, meeting.items[i]);
	groups->items[root].is_open = is_open;
	free(meeting.items);
	free(meeting.is_candidate);
}

void solver_add_aliases(struct solver *solver, struct place_groups *groups)
{
	if (!solver->order->addresses.capacity || !solver->has_open_addresses)
		return;
	for (uint32_t i = 0; i < groups->count; i++)
		aliases_unite(solver, groups, i);
	for (uint32_t i = 0; i < groups->count; i++)
		if (aliases_root_of(groups->items, i) == i && groups->items[i].is_open)
			aliases_add_group(solver, groups, i);
	for (uint32_t i = 0; i < groups->count; i++)
		groups->items[i].is_open = groups->items[aliases_root_of(groups->items, i)].is_open;
}
