#include "sensitivity/hidden.h"

#include <stdlib.h>

#include "base/bug.h"
#include "rewalk/slots.h"

/* Bytes that may stand somewhere: (address, value) and whether it is known what stood there at first. */
struct contents {
	uint64_t *keys; /* open addressing; 0: free */
	uint64_t count, capacity;
};

#define IS_INITIAL_KNOWN 256u

static bool has(const struct contents *contents, uint64_t address, uint32_t value)
{
	const uint64_t key = address << 9 | value;

	return contents->capacity && *(uint64_t *)slots_find(contents->keys, contents->capacity,
					     sizeof *contents->keys, key);
}

static void put(struct contents *contents, uint64_t address, uint32_t value)
{
	const uint64_t key = address << 9 | value;
	uint64_t *slot;

	contents->keys = slots_reserve(
		contents->keys, &contents->capacity, sizeof *contents->keys, contents->count, 1024);
	slot = slots_find(contents->keys, contents->capacity, sizeof *contents->keys, key);
	contents->count += !*slot;
	*slot = key;
}

static void put_written(struct contents *contents, const struct walk_event *event)
{
	for (uint32_t i = 0; i < event->bytes; i++)
		put(contents, event->address + i, (uint8_t)(event->value >> 8 * i));
}

/* What stood there at first: as is known, or what the first read gave, if nobody had written there. */
static void put_initial(
	struct contents *contents, const struct walk *walk, const struct walk_event *read)
{
	uint64_t initial;

	if (!walk_initial(walk, read->address, read->bytes, &initial))
		initial = read->value;
	for (uint32_t i = 0; i < read->bytes; i++) {
		if (has(contents, read->address + i, IS_INITIAL_KNOWN))
			continue;
		put(contents, read->address + i, IS_INITIAL_KNOWN);
		put(contents, read->address + i, (uint8_t)(initial >> 8 * i));
	}
}

static bool is_explained(const struct contents *contents, const struct walk_event *read)
{
	for (uint32_t i = 0; i < read->bytes; i++)
		if (!has(contents, read->address + i, (uint8_t)(read->value >> 8 * i)))
			return false;
	return true;
}

static int compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void add(struct order *order, uint64_t word)
{
	if (order->hidden_count && order->hidden[order->hidden_count - 1] == word)
		return;
	if (order->hidden_count == order->hidden_capacity) {
		order->hidden_capacity = order->hidden_capacity ? 2 * order->hidden_capacity : 64;
		order->hidden =
			realloc(order->hidden, order->hidden_capacity * sizeof *order->hidden);
		BUG_ON(!order->hidden);
	}
	order->hidden[order->hidden_count++] = word;
}

void hidden_find(struct order *order)
{
	struct contents contents = {0};

	for (int round = 0; round < 2; round++)
		for (uint64_t i = 0; i < order->event_count; i++) {
			const struct event_id id = order->events[i];
			const struct walk_event *event =
				&order->walk->threads[id.thread].events[id.index];

			if (!round && event->kind == EVENT_WRITE)
				put_written(&contents, event);
			if (!round || event->kind != EVENT_READ)
				continue;
			put_initial(&contents, order->walk, event);
			if (is_explained(&contents, event))
				continue;
			add(order, event->address >> 3);
			add(order, (event->address + event->bytes - 1) >> 3);
		}
	free(contents.keys);
	if (order->hidden_count)
		qsort(order->hidden, order->hidden_count, sizeof *order->hidden, compare);
}

bool hidden_has(const struct order *order, uint64_t address, uint32_t bytes)
{
	for (uint64_t word = address >> 3;
		order->hidden_count && word <= (address + bytes - 1) >> 3; word++)
		if (bsearch(&word, order->hidden, order->hidden_count, sizeof word, compare))
			return true;
	return false;
}
