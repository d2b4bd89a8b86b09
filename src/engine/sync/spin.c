#include "engine/sync.h"

#include <pthread.h>

_Static_assert(sizeof(struct spin) == sizeof(pthread_spinlock_t), "glibc's size");

#define SPIN_FREE 1
#define SPIN_FREE_SHARED 2
/* base of values that contain the id of the holding process */
#define SPIN_HELD_SHARED (-(1 << 30))

static bool spin_has_holder(const struct spin *spin)
{
	return spin->value != SPIN_FREE && spin->value != SPIN_FREE_SHARED;
}

static bool spin_is_shared(const struct spin *spin)
{
	return spin->value == SPIN_FREE_SHARED || spin->value <= SPIN_HELD_SHARED;
}

void spin_init(struct spin *spin, bool is_shared)
{
	spin->value = is_shared ? SPIN_FREE_SHARED : SPIN_FREE;
	engine_object_renew(spin);
}

int spin_destroy(struct spin *spin, uint64_t site)
{
	if (spin_has_holder(spin)) {
		engine_fail_at_lock(OUTCOME_DESTROY_HELD, OP_SPIN_LOCK, spin, site);
		return EBUSY;
	}
	engine_object_renew(spin);
	return 0;
}

static bool spin_is_free(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct spin *spin = op->address;

	(void)thread;
	return !spin_has_holder(spin);
}

static bool spin_take(struct spin *spin, uint64_t site)
{
	struct engine_thread *self = engine_current();
	const bool is_shared = spin_is_shared(spin);
	bool is_free;

	shared_enter(is_shared);
	is_free = !spin_has_holder(spin);
	if (is_free)
		spin->value =
			is_shared ? SPIN_HELD_SHARED - shared_process() : -(int32_t)sync_mark(self);
	shared_leave(is_shared);
	if (!is_free)
		return false;
	self->spin_held = spin;
	self->spin_site = site;
	self->held_count++;
	engine_changed(spin);
	return true;
}

int spin_lock(struct spin *spin, uint64_t site)
{
	struct engine_op op = {.kind = OP_SPIN_LOCK,
		.address = spin,
		.site = site,
		.is_shared = spin_is_shared(spin),
		.ready = spin_is_free,
		.deadline_ns = ENGINE_FOREVER};
	enum engine_result result;

	do {
		result = engine_perform(&op);
	} while (result == WAIT_DONE && !spin_take(spin, site));
	return sync_error(result);
}

int spin_trylock(struct spin *spin, uint64_t site)
{
	engine_point(OP_SPIN_TRYLOCK, spin, site);
	if (!spin_take(spin, site)) {
		engine_unproductive();
		return EBUSY;
	}
	return 0;
}

int spin_unlock(struct spin *spin, uint64_t site)
{
	struct engine_thread *self = engine_current();

	const bool is_shared = spin_is_shared(spin);
	bool is_mine;

	engine_point(OP_SPIN_UNLOCK, spin, site);
	is_mine = is_shared ? spin->value == SPIN_HELD_SHARED - shared_process()
			    : spin->value == -(int32_t)sync_mark(self);
	if (!is_mine)
		engine_fail_at_lock(OUTCOME_UNLOCK_NOT_OWNED, OP_SPIN_LOCK, spin, site);
	else if (self->held_count)
		self->held_count--;
	spin->value = is_shared ? SPIN_FREE_SHARED : SPIN_FREE;
	engine_changed(spin);
	return 0;
}

struct thread_id spin_holder(const struct spin *spin, uint64_t *site)
{
	const struct engine_thread *holder = NULL;

	*site = 0;
	if (spin->value < 0 && !spin_is_shared(spin))
		holder = sync_thread(-(uint32_t)spin->value);
	if (!holder)
		return THREAD_NONE;
	if (holder->spin_held == spin)
		*site = holder->spin_site;
	return holder->id;
}
