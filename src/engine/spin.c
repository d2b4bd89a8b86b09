#include "engine/spin.h"

#include <pthread.h>

#include "engine/sync.h"

_Static_assert(sizeof(struct spin) == sizeof(pthread_spinlock_t), "glibc's size");

#define SPIN_FREE 1

void spin_init(struct spin *spin)
{
	spin->value = SPIN_FREE;
	engine_object_renew(spin);
}

int spin_destroy(struct spin *spin, uint64_t site)
{
	if (spin->value != SPIN_FREE) {
		engine_fail(OUTCOME_DESTROY_HELD, spin, site);
		return EBUSY;
	}
	engine_object_renew(spin);
	return 0;
}

static bool spin_is_free(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct spin *spin = op->address;

	(void)thread;
	return spin->value == SPIN_FREE;
}

static void spin_take(struct spin *spin, uint64_t site)
{
	struct engine_thread *self = engine_current();

	spin->value = -(int32_t)sync_mark(self);
	self->spin_held = spin;
	self->spin_site = site;
	self->held_count++;
	engine_changed(spin);
}

int spin_lock(struct spin *spin, uint64_t site)
{
	struct engine_op op = {.kind = OP_SPIN_LOCK,
		.address = spin,
		.site = site,
		.ready = spin_is_free,
		.deadline_ns = ENGINE_FOREVER};
	enum engine_result result = engine_perform(&op);

	if (result == WAIT_DONE)
		spin_take(spin, site);
	return sync_error(result);
}

int spin_trylock(struct spin *spin, uint64_t site)
{
	engine_point(OP_SPIN_TRYLOCK, spin, site);
	if (spin->value != SPIN_FREE) {
		engine_unproductive();
		return EBUSY;
	}
	spin_take(spin, site);
	return 0;
}

int spin_unlock(struct spin *spin, uint64_t site)
{
	struct engine_thread *self = engine_current();

	engine_point(OP_SPIN_UNLOCK, spin, site);
	if (spin->value != -(int32_t)sync_mark(self))
		engine_fail(OUTCOME_UNLOCK_NOT_OWNED, spin, site);
	else if (self->held_count)
		self->held_count--;
	spin->value = SPIN_FREE;
	engine_changed(spin);
	return 0;
}

struct thread_id spin_holder(const void *address, uint64_t *site)
{
	const struct spin *spin = address;
	const struct engine_thread *holder;

	*site = 0;
	holder = spin->value < 0 ? sync_thread(-(uint32_t)spin->value) : NULL;
	if (!holder)
		return THREAD_NONE;
	if (holder->spin_held == spin)
		*site = holder->spin_site;
	return holder->id;
}
