/*
 * Reads and writes with open addresses (addresses.c): the solver decides which of them access the
 * same place. All places that such an access may go to form one united group. Each read of the
 * group compares addresses with each write.
 */
#include <stdlib.h>

#include "base/array.h"
#include "base/search.h"
#include "branches/constraints/constraints.h"

/* Limit of reads times the square of writes in a united group. */
#define COST_MOST 60000

static const struct walk_event *constraints_aliases_event_of(
	const struct constraints *constraints, struct event_id id)
{
	return &constraints->walk->threads[id.thread].events[id.index];
}

static const struct address_set *constraints_aliases_addresses_of(
	const struct constraints *constraints, const struct place_access *access)
{
	if (!constraints->has_open_addresses || constraints_is_past(constraints, access->id))
		return NULL;
	return addresses_find(&constraints->order->addresses,
		walk_event_at(
			constraints->walk, constraints_aliases_event_of(constraints, access->id)));
}

static uint32_t constraints_aliases_root_of(struct place_group *groups, uint32_t number)
{
	while (groups[number].united != number)
		number = groups[number].united = groups[groups[number].united].united;
	return number;
}

/* Returns the group of an address. UINT32_MAX: no access to the address before the window's end. */
static uint32_t constraints_aliases_group_at(const struct place_groups *groups, uint64_t address)
{
	uint32_t first;

	SEARCH(first, 0, groups->count,
		groups->accesses[groups->items[first].first].address < address);
	return first < groups->count &&
			       groups->accesses[groups->items[first].first].address == address
		       ? first
		       : UINT32_MAX;
}

static void constraints_aliases_unite(
	struct constraints *constraints, struct place_groups *groups, uint32_t number)
{
	const struct place_group *group = &groups->items[number];

	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		const struct address_set *set =
			constraints_aliases_addresses_of(constraints, &groups->accesses[i]);

		for (uint32_t j = 0; set && j < set->count; j++) {
			const uint32_t other = constraints_aliases_group_at(groups, set->items[j]);
			const uint32_t root = constraints_aliases_root_of(groups->items, number);

			if (other != UINT32_MAX)
				groups->items[constraints_aliases_root_of(groups->items, other)]
					.united = root;
			groups->items[root].is_open = true;
		}
	}
}

struct meeting {
	struct constraints *constraints;
	const struct place_groups *groups;
	const struct place_access **items;
	uint32_t count;
	bool *is_candidate; /* by item: a write that the current read may see */
};

static void constraints_aliases_add_items(struct meeting *meeting, const struct place_group *group)
{
	for (uint32_t i = group->first; i < group->first + group->count; i++) {
		if (constraints_is_past(meeting->constraints, meeting->groups->accesses[i].id))
			continue;
		ARRAY_APPEND(meeting->items, meeting->count, &meeting->groups->accesses[i]);
	}
}

static bool constraints_aliases_is_too_costly(const struct meeting *meeting)
{
	uint64_t writes = 0;

	for (uint32_t i = 0; i < meeting->count; i++)
		writes += meeting->items[i]->is_write;
	return (meeting->count - writes) * writes * writes > COST_MOST;
}

static struct term *constraints_aliases_term_of(
	const struct meeting *meeting, const struct place_access *access)
{
	return constraints_aliases_addresses_of(meeting->constraints, access)
		       ? walk_event_at(meeting->constraints->walk,
				 constraints_aliases_event_of(meeting->constraints, access->id))
		       : NULL;
}

static Z3_ast constraints_aliases_is_at(
	const struct meeting *meeting, struct term *term, uint64_t address)
{
	struct constraints *constraints = meeting->constraints;

	return Z3_mk_eq(constraints->z3, constraints_term(constraints, term),
		constraints_bits(constraints, term->width, address));
}

static bool constraints_aliases_may_be_at(
	const struct meeting *meeting, const struct place_access *access, uint64_t address)
{
	const struct address_set *set =
		constraints_aliases_addresses_of(meeting->constraints, access);

	for (uint32_t i = 0; set && i < set->count; i++)
		if (set->items[i] == address)
			return true;
	return !set && access->address == address;
}

static bool constraints_aliases_may_overlap(
	const struct meeting *meeting, const struct place_access *a, const struct place_access *b)
{
	const struct address_set *set = constraints_aliases_addresses_of(meeting->constraints, a);

	for (uint32_t i = 0; set && i < set->count; i++)
		if (constraints_aliases_may_be_at(meeting, b, set->items[i]))
			return true;
	return !set && constraints_aliases_may_be_at(meeting, b, a->address);
}

/* Returns the condition that both accesses go to one address; NULL: always. Compares each term with
 * the few common addresses, as other constraints contain these comparisons, too. A direct
 * comparison of the two terms slows the solver down several times. */
static Z3_ast constraints_aliases_overlap(
	const struct meeting *meeting, const struct place_access *a, const struct place_access *b)
{
	struct constraints *constraints = meeting->constraints;
	struct term *first = constraints_aliases_term_of(meeting, a),
		    *second = constraints_aliases_term_of(meeting, b);
	const struct address_set *set = constraints_aliases_addresses_of(constraints, a);
	Z3_ast any = NULL;

	if (first == second)
		return NULL;
	if (!first || !second)
		return constraints_aliases_is_at(
			meeting, first ? first : second, first ? b->address : a->address);
	for (uint32_t i = 0; i < set->count; i++) {
		Z3_ast both;

		if (!constraints_aliases_may_be_at(meeting, b, set->items[i]))
			continue;
		both = constraints_and(constraints,
			constraints_aliases_is_at(meeting, first, set->items[i]),
			constraints_aliases_is_at(meeting, second, set->items[i]));
		any = any ? constraints_or(constraints, any, both) : both;
	}
	return any;
}

static bool constraints_aliases_may_be_read(const struct meeting *meeting,
	const struct place_access *read, const struct place_access *write)
{
	const struct order *order = meeting->constraints->order;

	if (!write->is_write || order_is_before(order, read->id, write->id) ||
		(write->id.thread == read->id.thread && write->id.index > read->id.index) ||
		!constraints_aliases_may_overlap(meeting, read, write))
		return false;
	/* A write that is certainly overwritten before the read is no candidate. */
	for (uint32_t i = 0; i < meeting->count; i++) {
		const struct place_access *other = meeting->items[i];

		if (constraints_is_certain(other) && other != write &&
			constraints_aliases_may_overlap(meeting, other, read) &&
			!constraints_aliases_overlap(meeting, other, read) &&
			order_is_before(order, write->id, other->id) &&
			order_is_before(order, other->id, read->id))
			return false;
	}
	return true;
}

/* Returns the condition that the read does not see the write: the write goes elsewhere, is not
 * made, or is not between `other` (NULL: start) and the read. */
static Z3_ast constraints_aliases_is_unseen(const struct meeting *meeting,
	const struct place_access *write, const struct place_access *other,
	const struct place_access *read)
{
	struct constraints *constraints = meeting->constraints;
	const struct order *order = constraints->order;
	Z3_ast meets = constraints_aliases_overlap(meeting, write, read);
	Z3_ast result = meets ? Z3_mk_not(constraints->z3, meets) : Z3_mk_false(constraints->z3);

	if (write->is_conditional)
		result = constraints_or(constraints, result,
			Z3_mk_not(constraints->z3, constraints_is_made(constraints, write)));
	if (other && order_is_before(order, write->id, other->id))
		return Z3_mk_true(constraints->z3);
	if (!order_is_before(order, write->id, read->id))
		result = constraints_or(constraints, result,
			constraints_or(constraints,
				Z3_mk_not(constraints->z3,
					constraints_happens(constraints, write->id)),
				constraints_before(constraints, read->id, write->id)));
	if (other && !order_is_before(order, other->id, write->id))
		result = constraints_or(
			constraints, result, constraints_before(constraints, write->id, other->id));
	return result;
}

static Z3_ast constraints_aliases_gives(
	const struct meeting *meeting, const struct place_access *read, Z3_ast value)
{
	return Z3_mk_eq(meeting->constraints->z3,
		constraints_term(meeting->constraints,
			walk_event_term(meeting->constraints->walk,
				constraints_aliases_event_of(meeting->constraints, read->id))),
		value);
}

static Z3_ast constraints_aliases_reads_from(
	const struct meeting *meeting, const struct place_access *read, uint32_t number)
{
	struct constraints *constraints = meeting->constraints;
	const struct place_access *write = meeting->items[number];
	Z3_ast meets = constraints_aliases_overlap(meeting, write, read);
	Z3_ast result = constraints_and(constraints,
		constraints_aliases_gives(meeting, read, constraints_accessed(constraints, write)),
		constraints_and(constraints, constraints_happens(constraints, write->id),
			constraints_before(constraints, write->id, read->id)));

	if (meets)
		result = constraints_and(constraints, result, meets);
	if (write->is_conditional)
		result = constraints_and(
			constraints, result, constraints_is_made(constraints, write));
	for (uint32_t i = 0; i < meeting->count; i++)
		if (i != number && meeting->is_candidate[i])
			result = constraints_and(constraints, result,
				constraints_aliases_is_unseen(
					meeting, meeting->items[i], write, read));
	return result;
}

static bool constraints_aliases_find_initial(
	const struct meeting *meeting, uint64_t address, uint32_t bytes, uint64_t *value)
{
	const uint32_t number = constraints_aliases_group_at(meeting->groups, address);
	const struct place_group *group = &meeting->groups->items[number];

	if (number == UINT32_MAX)
		return walk_initial(meeting->constraints->walk, address, bytes, value);
	return constraints_find_initial(meeting->constraints,
		&meeting->groups->accesses[group->first], group->count, value);
}

static bool constraints_aliases_is_written_before(
	const struct meeting *meeting, const struct place_access *read, uint64_t address)
{
	for (uint32_t i = 0; i < meeting->count; i++)
		if (meeting->is_candidate[i] && constraints_is_certain(meeting->items[i]) &&
			!constraints_aliases_addresses_of(
				meeting->constraints, meeting->items[i]) &&
			meeting->items[i]->address == address &&
			order_is_before(
				meeting->constraints->order, meeting->items[i]->id, read->id))
			return true;
	return false;
}

/* Returns the condition that the read returns the initial value of this address; NULL if
 * impossible. */
static Z3_ast constraints_aliases_reads_initial(
	const struct meeting *meeting, const struct place_access *read, uint64_t address)
{
	struct constraints *constraints = meeting->constraints;
	struct term *term = constraints_aliases_term_of(meeting, read);
	uint64_t value;
	Z3_ast result;

	if (constraints_aliases_is_written_before(meeting, read, address) ||
		!constraints_aliases_find_initial(meeting, address, read->bytes, &value))
		return NULL;
	result = constraints_aliases_gives(
		meeting, read, constraints_bits(constraints, 8u * read->bytes, value));
	if (term)
		result = constraints_and(
			constraints, result, constraints_aliases_is_at(meeting, term, address));
	for (uint32_t i = 0; i < meeting->count; i++)
		if (meeting->is_candidate[i] &&
			constraints_aliases_may_be_at(meeting, meeting->items[i], address))
			result = constraints_and(constraints, result,
				constraints_aliases_is_unseen(
					meeting, meeting->items[i], NULL, read));
	return result;
}

static void constraints_aliases_add_read(struct meeting *meeting, const struct place_access *read)
{
	struct constraints *constraints = meeting->constraints;
	const struct address_set *set = constraints_aliases_addresses_of(constraints, read);
	Z3_ast any = Z3_mk_false(constraints->z3);

	for (uint32_t i = 0; i < meeting->count; i++)
		meeting->is_candidate[i] =
			constraints_aliases_may_be_read(meeting, read, meeting->items[i]);
	for (uint32_t i = 0; i < meeting->count; i++)
		if (meeting->is_candidate[i])
			any = constraints_or(
				constraints, any, constraints_aliases_reads_from(meeting, read, i));
	for (uint32_t i = 0; i < (set ? set->count : 1u); i++) {
		Z3_ast initial = constraints_aliases_reads_initial(
			meeting, read, set ? set->items[i] : read->address);

		if (initial)
			any = constraints_or(constraints, any, initial);
	}
	constraints_add(constraints,
		constraints_implies(constraints, constraints_happens(constraints, read->id), any));
}

static void constraints_aliases_keep_addresses(struct meeting *meeting)
{
	for (uint32_t i = 0; i < meeting->count; i++) {
		struct term *term = constraints_aliases_term_of(meeting, meeting->items[i]);

		if (term)
			constraints_add(meeting->constraints,
				constraints_implies(meeting->constraints,
					constraints_happens(
						meeting->constraints, meeting->items[i]->id),
					constraints_aliases_is_at(
						meeting, term, meeting->items[i]->address)));
	}
}

static void constraints_aliases_add_group(
	struct constraints *constraints, struct place_groups *groups, uint32_t root)
{
	struct meeting meeting = {.constraints = constraints, .groups = groups};
	bool is_open;

	for (uint32_t i = 0; i < groups->count; i++)
		if (constraints_aliases_root_of(groups->items, i) == root)
			constraints_aliases_add_items(&meeting, &groups->items[i]);
	is_open = !constraints_aliases_is_too_costly(&meeting);
	if (!is_open)
		constraints_aliases_keep_addresses(&meeting);
	meeting.is_candidate = array_new(meeting.count + 1u, sizeof *meeting.is_candidate);
	for (uint32_t i = 0; is_open && i < meeting.count && !constraints_is_late(constraints); i++)
		if (!meeting.items[i]->is_write)
			constraints_aliases_add_read(&meeting, meeting.items[i]);
	groups->items[root].is_open = is_open;
	free(meeting.items);
	free(meeting.is_candidate);
}

void constraints_add_aliases(struct constraints *constraints, struct place_groups *groups)
{
	if (!constraints->order->addresses.capacity || !constraints->has_open_addresses)
		return;
	for (uint32_t i = 0; i < groups->count; i++)
		constraints_aliases_unite(constraints, groups, i);
	for (uint32_t i = 0; i < groups->count; i++)
		if (constraints_aliases_root_of(groups->items, i) == i && groups->items[i].is_open)
			constraints_aliases_add_group(constraints, groups, i);
	for (uint32_t i = 0; i < groups->count; i++)
		groups->items[i].is_open =
			groups->items[constraints_aliases_root_of(groups->items, i)].is_open;
}
