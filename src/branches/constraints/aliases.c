/*
 * Reads and writes with open addresses (addresses.c): the solver decides which of them access the
 * same location. All locations that such an access may go to form one united group. Each read of the
 * group compares addresses with each write.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/constraints/solver.h"

/* Limit of reads times the square of writes in a united group. */
#define COST_MOST 60000

static const struct address_set *aliases_addresses_of(
	const struct solver *solver, const struct location_access *access)
{
	if (!solver->has_open_addresses || solver_is_past(solver, access->id))
		return NULL;
	return addresses_find(&solver->order->addresses,
		walk_event_at(solver->walk, walk_event_of(solver->walk, access->id)));
}

static uint32_t aliases_root_of(struct location_group *groups, uint32_t number)
{
	while (groups[number].united != number)
		number = groups[number].united = groups[groups[number].united].united;
	return number;
}

/* Returns the group of an address. UINT32_MAX: no access to the address before the window's end. */
static uint32_t aliases_group_at(const struct location_groups *groups, uint64_t address)
{
	uint32_t first;

	SEARCH(first, 0, groups->count,
		groups->accesses[groups->items[first].first].address < address);
	return first < groups->count &&
			       groups->accesses[groups->items[first].first].address == address
		       ? first
		       : UINT32_MAX;
}

static void aliases_unite(struct solver *solver, struct location_groups *groups, uint32_t number)
{
	const struct location_group *group = &groups->items[number];

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

struct united_group {
	struct solver *solver;
	const struct location_groups *groups;
	const struct location_access **items;
	uint32_t count;
	bool *is_candidate; /* by item: a write that the current read may see */
};

static void aliases_add_items(struct united_group *united, const struct location_group *group)
{
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		if (solver_is_past(united->solver, united->groups->accesses[i].id))
			continue;
		ARRAY_APPEND(united->items, united->count, &united->groups->accesses[i]);
	}
}

static bool aliases_is_too_costly(const struct united_group *united)
{
	uint64_t writes = 0;

	for (uint32_t i = 0; i < united->count; i++)
		writes += united->items[i]->is_write;
	return (united->count - writes) * writes * writes > COST_MOST;
}

static struct term *aliases_term_of(
	const struct united_group *united, const struct location_access *access)
{
	return aliases_addresses_of(united->solver, access)
		       ? walk_event_at(united->solver->walk,
				 walk_event_of(united->solver->walk, access->id))
		       : NULL;
}

static bool aliases_may_be_at(
	const struct united_group *united, const struct location_access *access, uint64_t address)
{
	const struct address_set *set = aliases_addresses_of(united->solver, access);

	for (uint32_t i = 0; set && i < set->count; i++)
		if (set->items[i] == address)
			return true;
	return !set && access->address == address;
}

static bool aliases_may_overlap(const struct united_group *united, const struct location_access *a,
	const struct location_access *b)
{
	const struct address_set *set = aliases_addresses_of(united->solver, a);

	for (uint32_t i = 0; set && i < set->count; i++)
		if (aliases_may_be_at(united, b, set->items[i]))
			return true;
	return !set && aliases_may_be_at(united, b, a->address);
}

/* Returns the condition that both accesses go to one address; NULL: always. Compares each term with
 * the few common addresses, as other constraints contain these comparisons, too. A direct
 * comparison of the two terms slows the solver down several times. */
static Z3_ast aliases_overlap(const struct united_group *united, const struct location_access *a,
	const struct location_access *b)
{
	struct solver *solver = united->solver;
	struct term *first = aliases_term_of(united, a), *second = aliases_term_of(united, b);
	const struct address_set *set = aliases_addresses_of(solver, a);
	Z3_ast any = NULL;

	if (first == second)
		return NULL;
	if (!first || !second)
		return solver_equals(
			united->solver, first ? first : second, first ? b->address : a->address);
	for (uint32_t i = 0; i < set->count; i++) {
		Z3_ast both;

		if (!aliases_may_be_at(united, b, set->items[i]))
			continue;
		both = solver_and(solver, solver_equals(united->solver, first, set->items[i]),
			solver_equals(united->solver, second, set->items[i]));
		any = any ? solver_or(solver, any, both) : both;
	}
	return any;
}

static bool aliases_may_be_read(const struct united_group *united,
	const struct location_access *read, const struct location_access *write)
{
	const struct order *order = united->solver->order;

	if (!write->is_write || order_is_before(order, read->id, write->id) ||
		(write->id.thread == read->id.thread && write->id.index > read->id.index) ||
		!aliases_may_overlap(united, read, write))
		return false;
	/* A write that is certainly overwritten before the read is no candidate. */
	for (uint32_t i = 0; i < united->count; i++) {
		const struct location_access *other = united->items[i];

		if (solver_is_certain(other) && other != write &&
			aliases_may_overlap(united, other, read) &&
			!aliases_overlap(united, other, read) &&
			order_is_before(order, write->id, other->id) &&
			order_is_before(order, other->id, read->id))
			return false;
	}
	return true;
}

/* Returns the condition that the read does not see the write: the write goes elsewhere, is not
 * made, or is not between `other` (NULL: start) and the read. */
static Z3_ast aliases_is_unseen(const struct united_group *united,
	const struct location_access *write, const struct location_access *other,
	const struct location_access *read)
{
	struct solver *solver = united->solver;
	const struct order *order = solver->order;
	Z3_ast overlaps = aliases_overlap(united, write, read);
	Z3_ast result = overlaps ? solver_not(solver, overlaps) : Z3_mk_false(solver->z3);

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
	const struct united_group *united, const struct location_access *read, Z3_ast value)
{
	return Z3_mk_eq(united->solver->z3,
		solver_term(united->solver, walk_event_term(united->solver->walk,
						    walk_event_of(united->solver->walk, read->id))),
		value);
}

static Z3_ast aliases_reads_from(
	const struct united_group *united, const struct location_access *read, uint32_t number)
{
	struct solver *solver = united->solver;
	const struct location_access *write = united->items[number];
	Z3_ast overlaps = aliases_overlap(united, write, read);
	Z3_ast result =
		solver_and(solver, aliases_gives(united, read, solver_accessed(solver, write)),
			solver_and(solver, solver_occurs(solver, write->id),
				solver_before(solver, write->id, read->id)));

	if (overlaps)
		result = solver_and(solver, result, overlaps);
	if (write->is_conditional)
		result = solver_and(solver, result, solver_is_made(solver, write));
	for (uint32_t i = 0; i < united->count; i++)
		if (i != number && united->is_candidate[i])
			result = solver_and(solver, result,
				aliases_is_unseen(united, united->items[i], write, read));
	return result;
}

static bool aliases_find_initial(
	const struct united_group *united, uint64_t address, uint32_t bytes, uint64_t *value)
{
	const uint32_t number = aliases_group_at(united->groups, address);
	const struct location_group *group = &united->groups->items[number];

	if (number == UINT32_MAX)
		return walk_initial(united->solver->walk, address, bytes, value);
	return solver_find_initial(
		united->solver, &united->groups->accesses[group->first], group->count, value);
}

static bool aliases_is_written_before(
	const struct united_group *united, const struct location_access *read, uint64_t address)
{
	for (uint32_t i = 0; i < united->count; i++)
		if (united->is_candidate[i] && solver_is_certain(united->items[i]) &&
			!aliases_addresses_of(united->solver, united->items[i]) &&
			united->items[i]->address == address &&
			order_is_before(united->solver->order, united->items[i]->id, read->id))
			return true;
	return false;
}

/* Returns the condition that the read returns the initial value of this address; NULL if
 * impossible. */
static Z3_ast aliases_reads_initial(
	const struct united_group *united, const struct location_access *read, uint64_t address)
{
	struct solver *solver = united->solver;
	struct term *term = aliases_term_of(united, read);
	uint64_t value;
	Z3_ast result;

	if (aliases_is_written_before(united, read, address) ||
		!aliases_find_initial(united, address, read->bytes, &value))
		return NULL;
	result = aliases_gives(united, read, solver_bits(solver, 8u * read->bytes, value));
	if (term)
		result = solver_and(solver, result, solver_equals(united->solver, term, address));
	for (uint32_t i = 0; i < united->count; i++)
		if (united->is_candidate[i] && aliases_may_be_at(united, united->items[i], address))
			result = solver_and(solver, result,
				aliases_is_unseen(united, united->items[i], NULL, read));
	return result;
}

static void aliases_add_read(struct united_group *united, const struct location_access *read)
{
	struct solver *solver = united->solver;
	const struct address_set *set = aliases_addresses_of(solver, read);
	Z3_ast any = Z3_mk_false(solver->z3);

	for (uint32_t i = 0; i < united->count; i++)
		united->is_candidate[i] = aliases_may_be_read(united, read, united->items[i]);
	for (uint32_t i = 0; i < united->count; i++)
		if (united->is_candidate[i])
			any = solver_or(solver, any, aliases_reads_from(united, read, i));
	for (uint32_t i = 0; i < (set ? set->count : 1u); i++) {
		Z3_ast initial =
			aliases_reads_initial(united, read, set ? set->items[i] : read->address);

		if (initial)
			any = solver_or(solver, any, initial);
	}
	solver_require(solver, solver_occurs(solver, read->id), any);
}

static void aliases_keep_addresses(struct united_group *united)
{
	for (uint32_t i = 0; i < united->count; i++) {
		struct term *term = aliases_term_of(united, united->items[i]);

		if (term)
			solver_require(united->solver,
				solver_occurs(united->solver, united->items[i]->id),
				solver_equals(united->solver, term, united->items[i]->address));
	}
}

static void aliases_add_group(struct solver *solver, struct location_groups *groups, uint32_t root)
{
	struct united_group united = {.solver = solver, .groups = groups};
	bool is_open;

	for (uint32_t i = 0; i < groups->count; i++)
		if (aliases_root_of(groups->items, i) == root)
			aliases_add_items(&united, &groups->items[i]);
	is_open = !aliases_is_too_costly(&united);
	if (!is_open)
		aliases_keep_addresses(&united);
	united.is_candidate = array_new(united.count + 1u, sizeof *united.is_candidate);
	for (uint32_t i = 0; is_open && i < united.count && !solver_is_late(solver); i++)
		if (!united.items[i]->is_write)
			aliases_add_read(&united, united.items[i]);
	groups->items[root].is_open = is_open;
	free(united.items);
	free(united.is_candidate);
}

void solver_add_aliases(struct solver *solver, struct location_groups *groups)
{
	if (!solver->order->addresses.count || !solver->has_open_addresses)
		return;
	for (uint32_t i = 0; i < groups->count; i++)
		aliases_unite(solver, groups, i);
	for (uint32_t i = 0; i < groups->count; i++)
		if (aliases_root_of(groups->items, i) == i && groups->items[i].is_open)
			aliases_add_group(solver, groups, i);
	for (uint32_t i = 0; i < groups->count; i++)
		groups->items[i].is_open = groups->items[aliases_root_of(groups->items, i)].is_open;
}
