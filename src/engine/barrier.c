#include "engine/barrier.h"

#include <limits.h>
#include <pthread.h>

#include "engine/sync.h"

_Static_assert(sizeof(struct barrier) == sizeof(pthread_barrier_t), "glibc's size");

int barrier_init(struct barrier *barrier, uint32_t count)
{
	if (!count || count > UINT_MAX / 2)
		return EINVAL;
	*barrier = (struct barrier){.count = count};
	engine_object_renew(barrier);
	return 0;
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
		.ready = barrier_is_open,
		.deadline_ns = ENGINE_FOREVER};

	engine_point(OP_BARRIER_ARRIVE, barrier, site);
	op.argument = barrier->round;
	engine_note_round(barrier->round, barrier->arrived + 1 == barrier->count);
	if (++barrier->arrived == barrier->count) {
		barrier->leaving += barrier->count - 1;
		barrier->arrived = 0;
		barrier->round++;
		engine_changed(barrier);
		return PTHREAD_BARRIER_SERIAL_THREAD;
	}
	(void)engine_perform(&op); /* WAIT_DONE: no deadline, never interrupted */
	if (!--barrier->leaving)
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
		.ready = barrier_is_deserted,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op); /* WAIT_DONE: no deadline, never interrupted */
	barrier->count = 0;
	engine_object_renew(barrier);
	return 0;
}
