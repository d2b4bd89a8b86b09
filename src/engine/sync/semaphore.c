#include "engine/sync.h"

#include <limits.h>
#include <semaphore.h>

_Static_assert(sizeof(struct semaphore) == sizeof(sem_t), "glibc's size");

int semaphore_init(struct semaphore *semaphore, uint32_t value, bool is_shared)
{
	if (value > SEM_VALUE_MAX)
		return EINVAL;
	/* As in glibc, an initialisation abandons the threads that wait. */
	*semaphore = (struct semaphore){.value = value,
		.is_shared = is_shared,
		.epoch = semaphore->epoch + (semaphore->value == 0)};
	engine_object_renew(semaphore);
	engine_changed(semaphore);
	return 0;
}

void semaphore_destroy(struct semaphore *semaphore)
{
	engine_object_renew(semaphore);
}

static bool semaphore_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct semaphore *semaphore = op->address;

	(void)thread;
	return semaphore->value > 0 && semaphore->epoch == op->argument2;
}

/* Decrements the value. Returns false if another process decremented it first. */
static bool semaphore_take(struct semaphore *semaphore)
{
	bool is_free;

	shared_enter(semaphore->is_shared);
	is_free = semaphore->value > 0;
	semaphore->value -= is_free;
	shared_leave(semaphore->is_shared);
	if (is_free)
		engine_changed(semaphore);
	return is_free;
}

int semaphore_wait(struct semaphore *semaphore, uint64_t deadline_ns, uint64_t site)
{
	struct engine_op op = {.kind = OP_SEM_WAIT,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.address = semaphore,
		.site = site,
		.argument2 = semaphore->epoch,
		.is_shared = semaphore->is_shared,
		.ready = semaphore_is_ready,
		.deadline_ns = deadline_ns};
	enum engine_result result;

	do {
		result = engine_perform(&op);
	} while (result == WAIT_DONE && !semaphore_take(semaphore));
	return sync_error(result);
}

int semaphore_trywait(struct semaphore *semaphore, uint64_t site)
{
	engine_point(OP_SEM_TRYWAIT, semaphore, site);
	if (!semaphore_take(semaphore)) {
		engine_unproductive();
		return EAGAIN;
	}
	return 0;
}

int semaphore_post(struct semaphore *semaphore, uint64_t site)
{
	bool has_room;

	engine_point(OP_SEM_POST, semaphore, site);
	shared_enter(semaphore->is_shared);
	has_room = semaphore->value < SEM_VALUE_MAX;
	semaphore->value += has_room;
	shared_leave(semaphore->is_shared);
	if (!has_room) {
		engine_failed();
		return EOVERFLOW;
	}
	engine_changed(semaphore);
	return 0;
}

uint32_t semaphore_value(const struct semaphore *semaphore, uint64_t site)
{
	engine_point(OP_SEM_READ, semaphore, site);
	return semaphore->value;
}
