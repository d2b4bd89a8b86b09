/*
 * Lifetimes of heap blocks. An allocator writes its own data into the first bytes of a freed block,
 * so reads there must precede the freeing. The other bytes mostly keep their values after that; for
 * reads of these no constraint is added, and the run that proves an answer decides.
 */
#include <stdlib.h>

#include "base/bug.h"
#include "branches/solve/order_internal.h"

/* Blocks begin at multiples of this, and no block is smaller. */
#define ALIGNMENT RELEASED_BYTES

/* The end of a block's lifetime. */
struct release {
	uint64_t address, position; /* position in the run of the last event before it */
	struct event_id last;
};

static int order_lives_compare(const void *left, const void *right)
{
	const struct release *a = left, *b = right;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->position < b->position ? -1 : a->position > b->position;
}

/* Sorted by address, then by the order of the run. */
static struct release *list_releases(const struct walk *walk)
{
	struct release *list = calloc(walk->release_count + 1u, sizeof *list);

	BUG_ON(!list);
	for (uint32_t i = 0; i < walk->release_count; i++) {
		const struct walk_release *from = &walk->releases[i];
		const uint32_t last = from->index - 1;

		list[i] = (struct release){.address = from->address,
			.position = walk->threads[from->thread].events[last].position,
			.last = {from->thread, last}};
	}
	qsort(list, walk->release_count, sizeof *list, order_lives_compare);
	return list;
}

/* The freeing of the block that the read accessed; NULL: the block was not freed. */
static const struct release *find_release(
	const struct release *list, uint32_t count, uint64_t address, uint64_t position)
{
	const struct release wanted = {.address = address, .position = position + 1};
	uint32_t first = 0, end = count;

	while (first < end) {
		const uint32_t middle = first + (end - first) / 2;

		if (order_lives_compare(&list[middle], &wanted) < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return first < count && list[first].address == address ? &list[first] : NULL;
}

static void add_life(struct order *order, struct event_id read, const struct release *release)
{
	if (!release || release->last.thread == read.thread ||
		order_is_before(order, read, release->last))
		return;
	if (order->life_count == order->life_capacity) {
		order->life_capacity = order->life_capacity ? 2 * order->life_capacity : 64;
		order->lives = realloc(order->lives, order->life_capacity * sizeof *order->lives);
		BUG_ON(!order->lives);
	}
	order->lives[order->life_count++] = (struct order_life){read, release->last};
}

void order_add_lives(struct order *order)
{
	const struct walk *walk = order->walk;
	struct release *list;

	if (!walk->release_count)
		return;
	list = list_releases(walk);
	for (uint32_t i = 0; i < order->thread_count; i++)
		for (uint64_t j = 0; j < walk->threads[i].count; j++) {
			const struct walk_event *event = &walk->threads[i].events[j];

			if (event->kind == EVENT_READ)
				add_life(order, (struct event_id){(uint16_t)i, (uint32_t)j},
					find_release(list, walk->release_count,
						event->address & ~(uint64_t)(ALIGNMENT - 1),
						event->position));
		}
	free(list);
}
