/* Histories of stores; see engine/c11.h. A dropped history only loses executions: all threads read
 * the newest store then, which every rule permits. */
#include <string.h>

#include "base/hot_state.h"
#include "engine/c11/c11_internal.h"
#include "engine/c11/robustness.h"

struct c11_state c11;
HOT_STATE bool c11_is_chosen;

static uint16_t *locations_location_bucket(uintptr_t address)
{
	const uintptr_t granule = address / C11_BYTES_MOST;

	return &c11.buckets[(granule ^ granule >> 8) % C11_BUCKETS];
}

uint64_t c11_peek(const struct c11_location *location)
{
	const unsigned char *from = (const unsigned char *)location->address;
	uint64_t value = 0;

	for (unsigned i = 0; i < location->bytes; i++)
		value |= (uint64_t)from[i] << 8 * i;
	return value;
}

void c11_poke(const struct c11_location *location, uint64_t value)
{
	unsigned char *to = (unsigned char *)location->address;

	for (unsigned i = 0; i < location->bytes; i++)
		to[i] = (unsigned char)(value >> 8 * i);
}

static void locations_location_drop(struct c11_location *location)
{
	const struct c11_view *message =
		c11_message(location, &location->stores[location->count - 1]);
	uint16_t *link = locations_location_bucket(location->address);

	if (message && c11.has_lost)
		c11_join(&c11.lost, message);
	else if (message)
		c11_copy(&c11.lost, message);
	c11.has_lost |= message != NULL;
	robustness_drop_location(location);
	while (*link != c11_number(location))
		link = &c11.locations[*link].next;
	*link = location->next;
	location->bytes = 0;
}

/* Notes that stores of the location are lost, unless no thread is left that could miss one. */
static void locations_location_note_cut(const struct c11_location *location, enum feature feature)
{
	const struct c11_store *newest = &location->stores[location->count - 1];

	if (engine_live_count() > 1 || c11_self()->now.stamps[c11_number(location)] < newest->stamp)
		engine_note_feature(feature);
}

static bool locations_location_overlaps(
	const struct c11_location *location, uintptr_t address, size_t bytes)
{
	return location->address < address + bytes && address < location->address + location->bytes;
}

bool c11_knows(const void *start, size_t bytes)
{
	const uintptr_t address = (uintptr_t)start;

	if (address / C11_BYTES_MOST == (address + bytes - 1) / C11_BYTES_MOST) {
		for (uint16_t i = *locations_location_bucket(address); i != C11_NONE;
			i = c11.locations[i].next)
			if (locations_location_overlaps(&c11.locations[i], address, bytes))
				return true;
		return false;
	}
	for (uint32_t i = 0; i < c11.location_count; i++)
		if (c11.locations[i].bytes &&
			locations_location_overlaps(&c11.locations[i], address, bytes))
			return true;
	return false;
}

void c11_forget(const void *start, size_t bytes)
{
	if (!c11_is_chosen)
		return;
	c11_settle();
	for (uint32_t i = 0; i < c11.location_count; i++)
		if (c11.locations[i].bytes &&
			locations_location_overlaps(&c11.locations[i], (uintptr_t)start, bytes))
			locations_location_drop(&c11.locations[i]);
}

/* The moving thread reads a part of the newest store, or more than the store. */
static void locations_location_read_newest(struct c11_location *location, uint8_t order)
{
	const struct c11_store *newest = &location->stores[location->count - 1];
	struct c11_view *now = &c11_self()->now;

	if (now->stamps[c11_number(location)] < newest->stamp && location->count > 1)
		engine_note_feature(FEATURE_MIXED_CUT);
	c11_raise(now, c11_number(location), newest->stamp);
	c11_receive(c11_message(location, newest), order);
	if (robustness_is_on())
		robustness_note_access(&(struct engine_op){.kind = OP_LOAD}, location, false);
}

void c11_read_across(const struct engine_op *op)
{
	for (uint32_t i = 0; i < c11.location_count; i++)
		if (c11.locations[i].bytes && locations_location_overlaps(&c11.locations[i],
						      (uintptr_t)op->address, op->bytes))
			locations_location_read_newest(&c11.locations[i], op->order);
}

struct c11_location *c11_find(const struct engine_op *op, bool *was_unseen)
{
	const bool is_read = op_descriptions[op->kind].flags & OP_READ;
	const uintptr_t start = (uintptr_t)op->address;
	uint16_t next;

	*was_unseen = false;
	for (uint16_t i = *locations_location_bucket(start); i != C11_NONE; i = next) {
		struct c11_location *location = &c11.locations[i];
		const bool is_exact = location->address == start && location->bytes == op->bytes;

		next = location->next;
		if (!locations_location_overlaps(location, start, op->bytes))
			continue;
		if (is_exact && c11_peek(location) == location->stores[location->count - 1].value)
			return location;
		*was_unseen |= is_exact;
		if (is_read && !is_exact) {
			locations_location_read_newest(location, op->order);
			continue;
		}
		locations_location_note_cut(location, FEATURE_MIXED_CUT);
		locations_location_drop(location);
	}
	return NULL;
}

struct c11_location *c11_location_new(const void *address, size_t bytes)
{
	uint16_t *bucket = locations_location_bucket((uintptr_t)address);
	struct c11_location *location;
	uint32_t number;

	if (c11.stamp >= C11_STAMP_MOST)
		return NULL;
	if (c11.location_count < C11_LOCATIONS) {
		number = c11.location_count++;
	} else {
		number = c11.next_replaced++ % C11_LOCATIONS;
		if (c11.locations[number].bytes) {
			locations_location_note_cut(&c11.locations[number], FEATURE_HISTORY_CUT);
			locations_location_drop(&c11.locations[number]);
		}
	}
	location = &c11.locations[number];
	location->address = (uintptr_t)address;
	location->bytes = (uint8_t)bytes;
	location->count = 1;
	location->next = *bucket;
	*bucket = (uint16_t)number;
	location->stores[0] = (struct c11_store){.stamp = c11.stamp += C11_STAMP_STEP,
		.writer = THREAD_NONE,
		.value = c11_peek(location)};
	robustness_begin_location(location);
	return location;
}

struct c11_store *c11_insert(struct c11_location *location, uint32_t index, uint32_t stamp)
{
	struct c11_store *stores = location->stores;

	if (location->count == C11_STORES) {
		locations_location_note_cut(location, FEATURE_HISTORY_CUT);
		index--;
		memmove(stores, stores + 1, index * sizeof *stores);
	} else {
		memmove(stores + index + 1, stores + index,
			(location->count - index) * sizeof *stores);
		location->count++;
	}
	stores[index] = (struct c11_store){.stamp = stamp};
	return &stores[index];
}

struct c11_view *c11_message_new(struct c11_location *location, struct c11_store *store)
{
	uint32_t used = 0;

	for (uint32_t i = 0; i < location->count; i++)
		used |= 1u << location->stores[i].message;
	store->message = 1;
	while (used >> store->message & 1)
		store->message++;
	return c11_message(location, store);
}
