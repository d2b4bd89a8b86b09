/*
 * Initial values of memory, recovered from logged reads that precede all writes (TAME, partition of
 * traces).
 */
#include <stdlib.h>

#include "branches/interpret/slots.h"
#include "branches/solve/order_internal.h"

/* A word: for each byte, what its first access reveals. */
struct order_first {
	uint64_t key; /* key of slots.h: address divided by eight, plus one */
	uint64_t value;
	uint8_t known;	  /* bit set of the bytes that were read first */
	uint8_t accessed; /* bit set of the bytes that were read or written first */
};

static struct order_first *order_firsts_slot_of(struct order *order, uint64_t word)
{
	struct order_first *slot;

	order->firsts = slots_reserve(order->firsts, &order->first_capacity, sizeof *order->firsts,
		order->first_count, 256);
	slot = slots_find(order->firsts, order->first_capacity, sizeof *slot, word + 1);
	if (!slot->key) {
		slot->key = word + 1;
		order->first_count++;
	}
	return slot;
}

static void order_firsts_add_access(struct order *order, const struct walk_event *event)
{
	struct order_first *slot = NULL;

	for (uint32_t i = 0; i < event->bytes; i++) {
		const uint64_t at = event->address + i;
		const uint8_t bit = (uint8_t)(1u << (at & 7));

		if (!slot || !(at & 7))
			slot = order_firsts_slot_of(order, at >> 3);
		if (event->kind == EVENT_READ && !(slot->accessed & bit)) {
			slot->known |= bit;
			slot->value |= (event->value >> 8 * i & 0xff) << 8 * (at & 7);
		}
		slot->accessed |= bit;
	}
}

void order_add_firsts(struct order *order)
{
	for (uint64_t i = 0; i < order->event_count; i++) {
		const struct event_id id = order->events[i];
		const struct walk_event *event = &order->walk->threads[id.thread].events[id.index];

		if (event->kind == EVENT_READ || event->kind == EVENT_WRITE)
			order_firsts_add_access(order, event);
	}
}

bool order_first_value(const struct order *order, uint64_t address, uint32_t bytes, uint64_t *value)
{
	uint64_t result = 0;

	for (uint32_t i = 0; i < bytes; i++) {
		const uint64_t at = address + i;
		const struct order_first *slot;

		if (!order->first_capacity)
			return false;
		slot = slots_find(
			order->firsts, order->first_capacity, sizeof *slot, (at >> 3) + 1);
		if (!(slot->known >> (at & 7) & 1))
			return false;
		result |= (slot->value >> 8 * (at & 7) & 0xff) << 8 * i;
	}
	*value = result;
	return true;
}
