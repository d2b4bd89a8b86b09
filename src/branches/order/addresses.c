/*
 * Possible targets of accesses whose address depends on shared memory: the values that the run
 * wrote to the pointer or index. An address is a candidate only if an access of the same size went
 * there, or if it lies in static data. A user of a set must add the constraint that the address is
 * one of the set.
 */
#include "branches/order/order.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/slots.h"

/* A set keeps the earliest values of the run. */
#define VALUES_MOST ADDRESSES_MOST
/* Larger terms keep the value of the run. */
#define SIZE_MOST 60

struct value_set {
	uint64_t items[VALUES_MOST];
	uint8_t count;
	bool is_known; /* has been computed */
};

/* Memory accessed with one size. */
struct location {
	uint64_t key;		 /* addresses_key(); 0: free slot */
	struct value_set values; /* values written there, and the initial value */
};

struct builder {
	const struct order *order;
	const struct walk *walk;
	struct slots locations;	     /* struct location */
	struct value_set *variables; /* values by number of the variable */
};

static void addresses_add_value(struct value_set *set, uint64_t value)
{
	for (uint32_t i = 0; i < set->count; i++)
		if (set->items[i] == value)
			return;
	if (set->count < VALUES_MOST)
		set->items[set->count++] = value;
}

/* A size is at most 8. No access is beyond 60 bits: such an address gets a key that no location has. */
static uint64_t addresses_key(uint64_t address, uint32_t bytes)
{
	return address >> 60 ? 15 : address << 4 | bytes;
}

/* Returns NULL if no access of this size goes there. */
static const struct location *addresses_location_at(
	const struct builder *builder, uint64_t address, uint32_t bytes)
{
	return slots_get(
		&builder->locations, sizeof(struct location), addresses_key(address, bytes));
}

static void addresses_add_location(struct builder *builder, const struct walk_event *event)
{
	struct location *location = slots_add(
		&builder->locations, sizeof *location, addresses_key(event->address, event->bytes));
	uint64_t initial;

	if (!location->values.count &&
		walk_initial(builder->walk, event->address, event->bytes, &initial))
		addresses_add_value(&location->values, initial);
	/* A read value that no visible write explains belongs to the set, too. */
	addresses_add_value(&location->values, event->value);
}

/* Returns whether accesses of other size or start overlap these bytes, or hidden writes do. */
static bool addresses_is_overlapped(const struct builder *builder, uint64_t address, uint32_t bytes)
{
	if (hidden_has(builder->order, address, bytes))
		return true;
	for (uint64_t at = address - 7; at < address + bytes; at++)
		for (uint32_t size = 1; size <= 8; size++)
			if ((at != address || size != bytes) && at + size > address &&
				addresses_location_at(builder, at, size))
				return true;
	return false;
}

static void addresses_list_locations(struct builder *builder)
{
	const struct walk *walk = builder->walk;

	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct walk_event *event = walk_event_of(walk, id);

		if (event_is_access(event))
			addresses_add_location(builder, event);
	}
}

static bool addresses_is_static(const struct walk *walk, uint64_t address, uint32_t bytes)
{
	const struct run_record *record = walk->record;

	for (uint32_t i = 0; i < record->image_count; i++)
		if (bytes <= record->images[i].bytes &&
			address - record->images[i].address <= record->images[i].bytes - bytes)
			return true;
	return false;
}

static void addresses_find_values(
	struct builder *builder, const struct term *term, struct value_set *out);

static const struct value_set *addresses_values_of_read(
	struct builder *builder, const struct term *variable)
{
	struct value_set *set = &builder->variables[variable->number];
	const struct event_id id = builder->order->reads[variable->number];
	const struct walk_event *read = walk_event_of(builder->walk, id);
	const struct term *at = walk_event_at(builder->walk, read);
	struct value_set where = {.items = {read->address}, .count = 1};

	if (set->is_known)
		return set;
	/* Set before the recursion: addresses depend on earlier reads only, so no cycle exists. */
	set->is_known = true;
	addresses_add_value(set, variable->value);
	if (read->kind == EVENT_OP) { /* the result of an operation */
		addresses_add_value(set, read->address);
		return set;
	}
	if (at)
		addresses_find_values(builder, at, &where);
	for (uint32_t i = 0; i < where.count; i++) {
		const struct location *location =
			addresses_location_at(builder, where.items[i], read->bytes);
		uint64_t initial;

		/* The location is static data that was not accessed, such as a vtable pointer. */
		if (!location && addresses_is_static(builder->walk, where.items[i], read->bytes) &&
			walk_initial(builder->walk, where.items[i], read->bytes, &initial))
			addresses_add_value(set, initial);
		for (uint32_t j = 0; location && j < location->values.count; j++)
			addresses_add_value(set, location->values.items[j]);
	}
	return set;
}

static void addresses_combine(
	struct builder *builder, const struct term *term, struct value_set *out)
{
	const struct term *parts[3] = {
		term_operand(term, 0), term_operand(term, 1), term_operand(term, 2)};
	struct value_set sets[3] = {{.count = 1}, {.count = 1}, {.count = 1}};

	for (int i = 0; i < 3; i++)
		if (parts[i]) {
			sets[i].count = 0;
			addresses_find_values(builder, parts[i], &sets[i]);
		}
	for (uint32_t i = 0; i < sets[0].count; i++)
		for (uint32_t j = 0; j < sets[1].count; j++)
			for (uint32_t k = 0; k < sets[2].count; k++) {
				const uint64_t operands[3] = {
					sets[0].items[i], sets[1].items[j], sets[2].items[k]};
				uint64_t value;

				if (term_compute(term, operands, &value))
					addresses_add_value(out, value);
			}
}

static void addresses_find_values(
	struct builder *builder, const struct term *term, struct value_set *out)
{
	addresses_add_value(out, term->value);
	if (term->op == TERM_CONSTANT || term->size > SIZE_MOST)
		return;
	if (term->op == TERM_VARIABLE)
		*out = *addresses_values_of_read(builder, term);
	else if (term_operand(term, 0))
		addresses_combine(builder, term, out);
}

static void addresses_open_builder(struct builder *builder, const struct order *order)
{
	*builder = (struct builder){.order = order, .walk = order->walk};
	builder->variables =
		array_new(order->walk->terms.variable_count + 1u, sizeof *builder->variables);
	addresses_list_locations(builder);
}

static void addresses_close_builder(struct builder *builder)
{
	slots_release(&builder->locations);
	free(builder->variables);
}

static bool addresses_may_lead_to(const struct builder *builder, uint64_t address, uint32_t bytes)
{
	return address >= NULL_PAGE && !addresses_is_overlapped(builder, address, bytes) &&
	       (addresses_location_at(builder, address, bytes) ||
		       addresses_is_static(builder->walk, address, bytes));
}

static void addresses_add_set(
	struct slots *addresses, struct builder *builder, const struct walk_event *access)
{
	const struct term *at = walk_event_at(builder->walk, access);
	struct value_set values = {.count = 0};
	struct address_set *set = slots_add(addresses, sizeof *set, (uintptr_t)at);

	if (set->count) {
		/* Accesses of two sizes use this term: only the address of the run is kept. */
		if (set->bytes != access->bytes)
			set->count = 1;
		return;
	}
	set->bytes = access->bytes;
	set->items[set->count++] = access->address;
	if (!addresses_is_overlapped(builder, access->address, access->bytes))
		addresses_find_values(builder, at, &values);
	for (uint32_t i = 0; i < values.count; i++)
		if (values.items[i] != access->address &&
			addresses_may_lead_to(builder, values.items[i], access->bytes))
			set->items[set->count++] = values.items[i];
}

void addresses_build(struct slots *addresses, const struct order *order)
{
	const struct walk *walk = order->walk;
	struct builder builder;

	*addresses = (struct slots){0};
	if (!walk->has_open_addresses)
		return;
	addresses_open_builder(&builder, order);
	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++)
		if (walk_event_at(walk, walk_event_of(walk, id)))
			addresses_add_set(addresses, &builder, walk_event_of(walk, id));
	addresses_close_builder(&builder);
}

const struct address_set *addresses_find(const struct slots *addresses, const struct term *term)
{
	const struct address_set *set = slots_get(addresses, sizeof *set, (uintptr_t)term);

	return set && set->count > 1 ? set : NULL;
}

uint32_t addresses_share(struct walk *walk, const struct order *order)
{
	struct builder builder;
	uint32_t count = 0;

	addresses_open_builder(&builder, order);
	for (uint32_t i = 0; i < walk->wanted_count; i++)
		count += walk_share(walk, walk->wanted[i]);
	walk->wanted_count = 0;
	for (struct event_id id = {0}; walk_has_event(walk, &id); id.index++) {
		const struct term *at = walk_event_at(walk, walk_event_of(walk, id));
		struct value_set values = {.count = 0};

		if (at)
			addresses_find_values(&builder, at, &values);
		for (uint32_t k = 0; k < values.count; k++)
			if (values.items[k] >= NULL_PAGE &&
				walk_is_known(walk, values.items[k] >> 3))
				count += walk_share(walk, values.items[k] >> 3);
	}
	addresses_close_builder(&builder);
	return count;
}
