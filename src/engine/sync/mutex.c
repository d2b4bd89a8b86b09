#include "engine/sync.h"

#include <pthread.h>
#include <stddef.h>

_Static_assert(sizeof(struct mutex) == sizeof(pthread_mutex_t), "glibc's size");
_Static_assert(offsetof(struct mutex, kind) == offsetof(pthread_mutex_t, __data.__kind),
	"static initialisers fill __kind");
_Static_assert(offsetof(struct mutex, owner) == offsetof(pthread_mutex_t, __data.__owner),
	"debuggers read __owner");

#define CEILING_MOST 99 /* highest priority of SCHED_FIFO on Linux; the lowest is 1 */

static uint32_t mutex_type(const struct mutex *mutex)
{
	return (uint32_t)mutex->kind & MUTEX_TYPE_MASK;
}

static bool mutex_is_shared(const struct mutex *mutex)
{
	return mutex->kind & MUTEX_SHARED;
}

static bool mutex_is_held_by(const struct mutex *mutex, const struct engine_thread *thread)
{
	return mutex->lock && mutex->holder == sync_mark(thread) &&
	       (!mutex_is_shared(mutex) || mutex->owner == shared_process());
}

/* Returns whether the holder's process has ended. engine_mutex_owner_died() handles holders of this
 * process. */
static bool mutex_is_orphaned(const struct mutex *mutex)
{
	const int32_t robust = MUTEX_SHARED | MUTEX_ROBUST;

	return mutex->lock && (mutex->kind & robust) == robust &&
	       mutex->owner != shared_process() && shared_process_is_gone(mutex->owner);
}

static bool mutex_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct mutex *mutex = op->address;

	if (!mutex->lock || mutex_is_orphaned(mutex))
		return true;
	return mutex_is_held_by(mutex, thread) &&
	       (mutex_type(mutex) == MUTEX_RECURSIVE || mutex_type(mutex) == MUTEX_ERRORCHECK);
}

int mutex_init(struct mutex *mutex, int32_t kind, uint8_t ceiling)
{
	if (kind & MUTEX_ROBUST && kind & MUTEX_PROTECTS_PRIORITY)
		return ENOTSUP;
	*mutex = (struct mutex){.kind = kind, .ceiling = ceiling};
	engine_object_renew(mutex);
	return 0;
}

int mutex_destroy(struct mutex *mutex, uint64_t site)
{
	const struct engine_op op = {.kind = OP_MUTEX_DESTROY,
		.address = mutex,
		.site = site,
		.is_shared = mutex_is_shared(mutex)};

	engine_point(OP_MUTEX_DESTROY, mutex, site);
	if (mutex->lock)
		engine_fail_at_lock(OUTCOME_DESTROY_HELD, OP_MUTEX_LOCK, mutex, site);
	if (mutex->users)
		return EBUSY;
	mutex->kind = -1;
	engine_object_destroyed(&op, sizeof *mutex);
	return 0;
}

static void mutex_link_robust(struct mutex *mutex, struct engine_thread *thread)
{
	mutex->next_robust = thread->robust_held;
	thread->robust_held = mutex;
}

static void mutex_unlink_robust(struct mutex *mutex, struct engine_thread *thread)
{
	struct mutex *before = thread->robust_held;

	if (before == mutex) {
		thread->robust_held = mutex->next_robust;
		return;
	}
	while (before && before->next_robust != mutex)
		before = before->next_robust;
	if (before)
		before->next_robust = mutex->next_robust;
}

static int mutex_take_again(struct mutex *mutex)
{
	if (mutex_type(mutex) != MUTEX_ERRORCHECK && mutex->count < UINT32_MAX) {
		mutex->count++;
		return 0;
	}
	engine_failed();
	return mutex_type(mutex) == MUTEX_ERRORCHECK ? EDEADLK : EAGAIN;
}

static int mutex_take_now(struct mutex *mutex, struct engine_thread *self, uint64_t site)
{
	if (mutex_is_orphaned(mutex)) {
		mutex->state |= MUTEX_INCONSISTENT;
		mutex->lock = 0;
		mutex->users -= mutex->users > 0; /* the dead holder no longer uses the mutex */
	}
	if (mutex->lock)
		return mutex_is_held_by(mutex, self) ? mutex_take_again(mutex) : SYNC_AGAIN;
	if (mutex->state & MUTEX_UNRECOVERABLE) {
		engine_failed();
		return ENOTRECOVERABLE;
	}
	mutex->lock = 1;
	mutex->count = 1;
	mutex->owner = mutex_is_shared(mutex) ? shared_process() : self->kernel_id;
	mutex->holder = sync_mark(self);
	mutex->site = site;
	mutex->users++;
	self->held_count++;
	if (mutex->kind & MUTEX_ROBUST)
		mutex_link_robust(mutex, self);
	engine_change_deferred(mutex);
	return mutex->state & MUTEX_INCONSISTENT ? EOWNERDEAD : 0;
}

/* Returns whether the thread's priority exceeds the ceiling of a PTHREAD_PRIO_PROTECT mutex. As in
 * glibc, a holder is not checked again. */
static bool mutex_is_below(const struct mutex *mutex, const struct engine_thread *thread)
{
	return mutex->kind & MUTEX_PROTECTS_PRIORITY && thread->priority > mutex->ceiling &&
	       !mutex_is_held_by(mutex, thread);
}

/* Acquires the mutex after mutex_is_ready(). Returns SYNC_AGAIN if another process acquired the
 * mutex first. */
static int mutex_take(struct mutex *mutex, struct engine_thread *self, uint64_t site)
{
	const bool is_shared = mutex_is_shared(mutex);
	int error;

	shared_enter(is_shared);
	error = mutex_take_now(mutex, self, site);
	shared_leave(is_shared);
	if (error == SYNC_AGAIN)
		engine_failed();
	return error;
}

/* Ends a lock, try or unlock of a mutex that was destroyed: it returns EINVAL, as glibc does. The call is nevertheless a
 * step of the run, at which raddle reports a use after destruction. */
static int mutex_refuse_destroyed(enum op_kind kind, const struct mutex *mutex, uint64_t site)
{
	engine_point(kind, mutex, site);
	engine_failed();
	return EINVAL;
}

int mutex_lock(struct mutex *mutex, uint64_t deadline_ns, uint64_t site)
{
	struct engine_op op = {.kind = OP_MUTEX_LOCK,
		.address = mutex,
		.site = site,
		.is_shared = mutex_is_shared(mutex),
		.has_common_result = !mutex_is_held_by(mutex, engine_current()),
		.ready = mutex_is_ready,
		.deadline_ns = deadline_ns};
	enum engine_result result;
	int error;

	if (mutex->kind < 0)
		return mutex_refuse_destroyed(OP_MUTEX_LOCK, mutex, site);
	if (mutex_is_below(mutex, engine_current()))
		return EINVAL;
	do {
		result = engine_perform(&op);
		error = result == WAIT_DONE ? mutex_take(mutex, engine_current(), site)
					    : sync_error(result);
	} while (error == SYNC_AGAIN);
	return error;
}

/* Returns whether glibc's trylock would return EDEADLK: for errorcheck mutexes that are robust or
 * have a priority protocol. */
static bool mutex_says_deadlock(const struct mutex *mutex, const struct engine_thread *self)
{
	return mutex_type(mutex) == MUTEX_ERRORCHECK && mutex_is_held_by(mutex, self) &&
	       mutex->kind & (MUTEX_ROBUST | MUTEX_INHERITS_PRIORITY | MUTEX_PROTECTS_PRIORITY);
}

int mutex_trylock(struct mutex *mutex, uint64_t site)
{
	struct engine_thread *self = engine_current();

	if (mutex->kind < 0)
		return mutex_refuse_destroyed(OP_MUTEX_TRYLOCK, mutex, site);
	if (mutex_is_below(mutex, self))
		return EINVAL;
	engine_point(OP_MUTEX_TRYLOCK, mutex, site);
	if (!mutex->lock || mutex_is_orphaned(mutex) ||
		(mutex_type(mutex) == MUTEX_RECURSIVE && mutex_is_held_by(mutex, self))) {
		int error = mutex_take(mutex, self, site);

		if (error != SYNC_AGAIN)
			return error;
	}
	engine_unproductive();
	return mutex_says_deadlock(mutex, self) ? EDEADLK : EBUSY;
}

/* `holder` is NULL if not known. */
static void mutex_set_free(struct mutex *mutex, struct engine_thread *holder)
{
	if (holder && holder->held_count)
		holder->held_count--;
	if (holder && mutex->kind & MUTEX_ROBUST)
		mutex_unlink_robust(mutex, holder);
	mutex->lock = 0;
	mutex->count = 0;
	mutex->owner = 0;
	mutex->holder = 0;
	mutex->site = 0;
	if (mutex->users)
		mutex->users--;
	engine_change_deferred(mutex);
}

/* Returns 0, EPERM, or a failure of the run; if the failure is tolerated, the unlock succeeds as in
 * glibc. */
static int mutex_check_owner(
	const struct mutex *mutex, const struct engine_thread *self, uint64_t site)
{
	uint32_t type = mutex_type(mutex);

	if (mutex_is_held_by(mutex, self))
		return 0;
	if (type == MUTEX_RECURSIVE || type == MUTEX_ERRORCHECK || mutex->kind & MUTEX_ROBUST)
		return EPERM;
	engine_fail_at_lock(OUTCOME_UNLOCK_NOT_OWNED, OP_MUTEX_LOCK, mutex, site);
	return 0;
}

/* Returns NULL if the holder is no thread of this process. */
static struct engine_thread *mutex_holder_here(const struct mutex *mutex)
{
	return mutex_is_shared(mutex) && mutex->owner != shared_process()
		       ? NULL
		       : sync_thread(mutex->holder);
}

static int mutex_give_now(struct mutex *mutex, struct engine_thread *self, uint64_t site)
{
	int error = mutex_check_owner(mutex, self, site);

	if (error || !mutex->lock) {
		engine_failed();
		return error;
	}
	if (mutex_type(mutex) == MUTEX_RECURSIVE && --mutex->count)
		return 0;
	if (mutex->state & MUTEX_INCONSISTENT)
		mutex->state = MUTEX_UNRECOVERABLE;
	mutex_set_free(mutex, mutex_holder_here(mutex));
	return 0;
}

static int mutex_give(struct mutex *mutex, struct engine_thread *self, uint64_t site)
{
	const bool is_shared = mutex_is_shared(mutex);
	int error;

	shared_enter(is_shared);
	error = mutex_give_now(mutex, self, site);
	shared_leave(is_shared);
	return error;
}

int mutex_unlock(struct mutex *mutex, uint64_t site)
{
	if (mutex->kind < 0)
		return mutex_refuse_destroyed(OP_MUTEX_UNLOCK, mutex, site);
	engine_point(OP_MUTEX_UNLOCK, mutex, site);
	return mutex_give(mutex, engine_current(), site);
}

int mutex_consistent(struct mutex *mutex)
{
	if (mutex->kind < 0 || !(mutex->kind & MUTEX_ROBUST) ||
		!(mutex->state & MUTEX_INCONSISTENT) || !mutex_is_held_by(mutex, engine_current()))
		return EINVAL;
	mutex->state = 0;
	return 0;
}

int mutex_get_ceiling(const struct mutex *mutex, int *ceiling)
{
	if (mutex->kind < 0 || !(mutex->kind & MUTEX_PROTECTS_PRIORITY))
		return EINVAL;
	*ceiling = mutex->ceiling;
	return 0;
}

int mutex_set_ceiling(struct mutex *mutex, int ceiling, int *old, uint64_t site)
{
	struct engine_thread *self = engine_current();
	bool is_mine;
	int error;

	if (mutex->kind < 0 || !(mutex->kind & MUTEX_PROTECTS_PRIORITY) || ceiling < 1 ||
		ceiling > CEILING_MOST)
		return EINVAL;
	is_mine = mutex_is_held_by(mutex, self);
	error = is_mine ? 0 : mutex_lock(mutex, ENGINE_FOREVER, site);
	if (error)
		return error;
	if (old)
		*old = mutex->ceiling;
	mutex->ceiling = (uint8_t)ceiling;
	if (is_mine)
		return 0;
	engine_note(OP_MUTEX_UNLOCK, mutex, site);
	return mutex_give(mutex, self, site);
}

int mutex_leave(struct mutex *mutex, uint64_t site)
{
	int error = mutex->kind < 0 ? EINVAL : mutex_give(mutex, engine_current(), site);

	if (!error)
		mutex->users++;
	return error;
}

struct engine_op mutex_return_op(const struct mutex *mutex, uint64_t site)
{
	return (struct engine_op){.kind = OP_MUTEX_LOCK,
		.interruptions = INTERRUPT_NEVER,
		.address = mutex,
		.site = site,
		.is_shared = mutex_is_shared(mutex),
		.ready = mutex_is_ready,
		.deadline_ns = ENGINE_FOREVER};
}

int mutex_return(struct mutex *mutex, uint64_t site)
{
	int error = mutex_take(mutex, engine_current(), site);

	if (error != SYNC_AGAIN)
		mutex->users--;
	return error;
}

void engine_mutex_owner_died(struct engine_thread *thread)
{
	while (thread->robust_held) {
		struct mutex *mutex = thread->robust_held;

		mutex->state |= MUTEX_INCONSISTENT;
		engine_note(
			/* the dead thread's actions happen before those of the next holder */
			OP_MUTEX_UNLOCK, mutex, 0);
		mutex_set_free(mutex, thread);
	}
}

struct thread_id mutex_holder(const struct mutex *mutex, uint64_t *site)
{
	const struct engine_thread *holder = mutex_holder_here(mutex);

	*site = holder ? mutex->site : 0;
	return holder ? holder->id : THREAD_NONE;
}
