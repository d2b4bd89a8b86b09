/* Positions of stopped threads. The threads above a stopped thread determine its position: there is one
 * position between two neighbours. */
#include "strategies/search/bounded_internal.h"

#include "base/bitset.h"

static uint64_t bounded_positions_last_position(const struct bounded *bounded)
{
	return BOUNDED_STOPPED - bounded->changes_made * THREAD_ORDER_STEP;
}

static void bounded_positions_each_below(const struct bounded *bounded,
	const struct schedule_view *view, uint32_t stopped, uint64_t highest,
	void (*visit)(void *context, uint64_t priority), void *context)
{
	for (uint32_t i = 0; i < view->thread_count; i++) {
		const uint64_t priority = bounded->priorities.priority[i];

		if (i != stopped && view->pending[i].kind != OP_NONE && priority <= highest &&
			priority > BOUNDED_YIELDED)
			visit(context, priority);
	}
	for (uint32_t i = 0; i < bounded->names.count; i++) {
		uint64_t priority;

		if (bitset_has(bounded->present, i))
			continue;
		priority =
			bounded_initial_priority(bounded, i, (thread_name)bounded->names.keys[i]);
		if (priority <= highest)
			visit(context, priority);
	}
}

static void bounded_positions_count_one(void *context, uint64_t priority)
{
	(void)priority;
	++*(uint32_t *)context;
}

uint32_t bounded_count_positions(const struct bounded *bounded, const struct schedule_view *view,
	uint32_t stopped, uint32_t next)
{
	uint32_t count = 0;

	bounded_positions_each_below(bounded, view, stopped, bounded->priorities.priority[next],
		bounded_positions_count_one, &count);
	return count < UINT16_MAX ? count : UINT16_MAX;
}

struct largest {
	uint64_t limit, value;
};

static void bounded_positions_find_largest(void *context, uint64_t priority)
{
	struct largest *largest = context;

	if (priority < largest->limit && priority > largest->value)
		largest->value = priority;
}

uint64_t bounded_position(const struct bounded *bounded, const struct schedule_view *view,
	uint32_t stopped, uint32_t next, uint32_t position)
{
	uint64_t above = bounded->priorities.priority[next], below;

	if (!position)
		return bounded_positions_last_position(bounded);
	for (uint32_t i = 0;; i++) {
		struct largest largest = {.limit = above};

		bounded_positions_each_below(
			bounded, view, stopped, above, bounded_positions_find_largest, &largest);
		below = largest.value;
		if (!below)
			return bounded_positions_last_position(bounded);
		if (i + 1 == position)
			return below + (above - below) / 2;
		above = below;
	}
}

uint64_t bounded_hash_order(const struct bounded *bounded)
{
	const struct priority_table *table = &bounded->priorities;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < bounded->names.count && !hash; i++)
		if (!bitset_has(bounded->present, i))
			hash = hash_pair(bounded->order_seed, bounded->order);
	for (uint32_t i = 0; i < table->known; i++) {
		uint32_t above = 0;

		for (uint32_t j = 0; j < table->known; j++)
			above += table->priority[j] > table->priority[i];
		hash = hash_pair(hash, above);
	}
	return hash;
}
