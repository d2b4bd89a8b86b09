/*
 * Does the run leave out an execution of RC11? Sequentially consistent operations take effect in the order of
 * execution, so the view of these operations (c11.sequential) forbids a choice that RC11 may permit:
 * where the operation that hides the store precedes this one only along a *loose* path, with a reads-from
 * edge that happens-before does not contain. Along another path RC11 forbids the choice, too, and without a
 * path another schedule has the two operations in the other order. A path is noted rather than missed:
 * locks and release sequences count as one object and as loose edges.
 */
#include "engine/c11/c11_internal.h"

/* Returns whether the view of sequentially consistent operations forbids what the thread's view permits. */
static bool paths_path_restricts(const struct c11_location *location)
{
	const struct c11_view *own = &c11_self()->now, *all = &c11.sequential;
	const uint16_t number = location ? c11_number(location) : 0;

	if (location)
		return all->stamps[number] > own->stamps[number] &&
		       all->stamps[number] >= location->stores[0].stamp;
	for (uint32_t i = 0; i < c11.location_count; i++)
		if (c11.locations[i].bytes && all->stamps[i] > own->stamps[i] &&
			all->stamps[i] >= c11.locations[i].stores[0].stamp)
			return true;
	return false;
}

void c11_path_sequential(const struct c11_location *location)
{
	struct c11_thread *self = c11_self();

	self->path |= c11.sequential_path;
	if (self->path & C11_LOOSE_PATH && paths_path_restricts(location))
		engine_note_feature(FEATURE_SEQUENTIAL_CUT);
	self->path |= C11_PATH;
	c11.sequential_path |= self->path;
}

void c11_path_read(const struct c11_store *store, uint8_t order)
{
	struct c11_thread *self = c11_self();
	const bool is_synchronised = thread_same(store->writer, engine_current()->id) ||
				     (order_acquires(order) && store->releases);

	self->path |= store->path;
	if (store->path && !is_synchronised)
		self->path |= C11_LOOSE_PATH;
}
