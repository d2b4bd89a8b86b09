#include "engine/sync.h"

#include <limits.h>
#include <pthread.h>

_Static_assert(sizeof(struct barrier) == sizeof(pthread_barrier_t), "glibc's size");

int barrier_init(struct barrier *barrier, uint32_t count, bool is_shared)
{
	if (!count || count > UINT_MAX / 2)
		return EINVAL;
	*barrier = (struct barrier){.count = count, .is_shared = is_shared};
	engine_object_renew(barrier);
	return 0;
}

/* Parts of a barrier, for engine_op.untouched. A thread that leaves the barrier changes nothing for the threads that arrive,
 * because these belong to a later round. */
enum barrier_part { BARRIER_ARRIVALS = 1, BARRIER_DEPARTURES = 2 };

static void barrier_arrive_point(const struct barrier *barrier, uint64_t site)
{
	struct engine_op op = {.kind = OP_BARRIER_ARRIVE,
		.address = barrier,
		.site = site,
		.untouched = UINT8_MAX ^ BARRIER_ARRIVALS,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
}

static bool barrier_is_open(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct barrier *barrier = op->address;

	(void)thread;
	return barrier->round != op->argument;
}

int barrier_wait(struct barrier *barrier, uint64_t site)
{
	struct engine_op op = {.kind = OP_BARRIER_LEAVE,
		.interruptions = INTERRUPT_NEVER,
		.address = barrier,
		.site = site,
		.is_shared = barrier->is_shared,
		.is_read = true,
		.untouched = UINT8_MAX ^ BARRIER_DEPARTURES,
		.number = barrier->count <= UINT16_MAX ? (uint16_t)barrier->count : 0,
		.ready = barrier_is_open,
		.deadline_ns = ENGINE_FOREVER};
	const bool is_shared = barrier->is_shared;
	bool is_last;

	barrier_arrive_point(barrier, site);
	shared_enter(is_shared);
	op.argument = barrier->round;
	is_last = ++barrier->arrived == barrier->count;
	engine_note_round(barrier->round, is_last);
	if (is_last) {
		barrier->leaving += barrier->count - 1;
		barrier->arrived = 0;
		barrier->round++;
	}
	shared_leave(is_shared);
	if (is_last) {
		engine_changed(barrier);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	(void)engine_perform(&op);
	shared_enter(is_shared);
	is_last = !--barrier->leaving;
	shared_leave(is_shared);
	if (is_last)
		engine_changed(barrier);
	return 0;
}

static bool barrier_is_deserted(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct barrier *barrier = op->address;

	(void)thread;
	return !barrier->arrived && !barrier->leaving;
}

int barrier_destroy(struct barrier *barrier, uint64_t site)
{
	struct engine_op op = {.kind = OP_BARRIER_DESTROY,
		.interruptions = INTERRUPT_NEVER,
		.address = barrier,
		.site = site,
		.is_shared = barrier->is_shared,
		.ready = barrier_is_deserted,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
	barrier->count = 0;
	engine_object_renew(barrier);
	return 0;
}
