#include "engine/sync.h"

#include <pthread.h>
#include <stddef.h>

_Static_assert(sizeof(struct rwlock) == sizeof(pthread_rwlock_t), "glibc's size");
_Static_assert(offsetof(struct rwlock, kind) == offsetof(pthread_rwlock_t, __data.__flags),
	"static initialisers fill __flags");
_Static_assert(offsetof(struct rwlock, writer_kernel_id) ==
		       offsetof(pthread_rwlock_t, __data.__cur_writer),
	"debuggers read __cur_writer");
_Static_assert((int)RWLOCK_PREFERS_WRITERS == (int)PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP,
	"glibc's");

#define READERS_MAX (UINT32_MAX >> 3) /* same limit as in glibc */

void rwlock_init(struct rwlock *rwlock, uint32_t kind, bool is_shared)
{
	*rwlock = (struct rwlock){.kind = kind, .is_shared = is_shared};
	engine_object_renew(rwlock);
}

int rwlock_destroy(struct rwlock *rwlock, uint64_t site)
{
	struct engine_op op = {.kind = OP_RWLOCK_DESTROY,
		.address = rwlock,
		.site = site,
		.is_shared = rwlock->is_shared,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
	if (rwlock->writer || rwlock->readers) {
		engine_fail_at_lock(OUTCOME_DESTROY_HELD, OP_RWLOCK_WRLOCK, rwlock, site);
		return EBUSY;
	}
	if (!rwlock->is_shared)
		rwlock->reserved_last = (uint32_t)SYNC_DESTROYED;
	engine_object_destroyed(&op, sizeof *rwlock);
	return 0;
}

static bool rwlock_is_written_by(const struct rwlock *rwlock, const struct engine_thread *thread)
{
	return rwlock->writer == sync_mark(thread) &&
	       (!rwlock->is_shared || rwlock->writer_kernel_id == shared_process());
}

/* Returns the index of the reader's entry, or -1 if not found. Mark 0 is a free entry. */
static int rwlock_find_reader(const struct rwlock *rwlock, uint16_t mark)
{
	for (int i = 0; i < RWLOCK_KNOWN_READERS; i++)
		if (rwlock->known_readers[i] == mark)
			return i;
	return -1;
}

static uint32_t rwlock_count_known(const struct rwlock *rwlock)
{
	uint32_t count = 0;

	for (int i = 0; i < RWLOCK_KNOWN_READERS; i++)
		count += rwlock->known_readers[i] != 0;
	return count;
}

static void rwlock_add_reader(struct rwlock *rwlock, uint16_t mark)
{
	int index = rwlock->is_shared ? -1 : rwlock_find_reader(rwlock, 0);

	if (index >= 0)
		rwlock->known_readers[index] = mark;
	rwlock->readers++;
	rwlock->reader = rwlock->is_shared ? 0 : mark;
}

static void rwlock_remove_reader(struct rwlock *rwlock, uint16_t mark)
{
	int index = rwlock_find_reader(rwlock, mark);

	if (index >= 0)
		rwlock->known_readers[index] = 0;
	rwlock->readers--;
	if (rwlock->reader == mark)
		rwlock->reader = 0;
}

/* Returns whether the thread may hold the lock; true if not all readers are known. */
static bool rwlock_may_be_held_by(const struct rwlock *rwlock, const struct engine_thread *thread)
{
	if (rwlock->writer)
		return rwlock_is_written_by(rwlock, thread);
	return rwlock_find_reader(rwlock, sync_mark(thread)) >= 0 ||
	       rwlock->readers > rwlock_count_known(rwlock);
}

static bool rwlock_admits_readers(const struct rwlock *rwlock)
{
	return !rwlock->writer && !(rwlock->readers && rwlock->waiting_writers);
}

/* Returns whether a reader's op is ready. An op that returns EDEADLK at once is also ready. */
static bool rwlock_is_ready_to_read(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct rwlock *rwlock = op->address;

	return rwlock_admits_readers(rwlock) || rwlock_is_written_by(rwlock, thread);
}

/* Acquires the lock for reading. Returns SYNC_AGAIN if another process acquired the lock first. */
static int rwlock_read_now(struct rwlock *rwlock, const struct engine_thread *self, uint64_t site)
{
	if (rwlock_is_written_by(rwlock, self))
		return EDEADLK;
	if (!rwlock_admits_readers(rwlock))
		return SYNC_AGAIN;
	if (rwlock->readers == READERS_MAX)
		return EAGAIN;
	rwlock_add_reader(rwlock, sync_mark(self));
	rwlock->site = site;
	return 0;
}

static bool rwlock_is_free(const struct rwlock *rwlock)
{
	return !rwlock->writer && !rwlock->readers;
}

static bool rwlock_is_ready_to_write(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct rwlock *rwlock = op->address;

	return rwlock_is_free(rwlock) || rwlock_is_written_by(rwlock, thread);
}

static int rwlock_write_now(struct rwlock *rwlock, const struct engine_thread *self, uint64_t site)
{
	if (rwlock_is_written_by(rwlock, self))
		return EDEADLK;
	if (!rwlock_is_free(rwlock))
		return SYNC_AGAIN;
	rwlock->writer = sync_mark(self);
	rwlock->writer_kernel_id = rwlock->is_shared ? shared_process() : self->kernel_id;
	rwlock->site = site;
	return 0;
}

static int rwlock_acquire(struct rwlock *rwlock, enum rwlock_access access, uint64_t site)
{
	struct engine_thread *self = engine_current();
	int error;

	shared_enter(rwlock->is_shared);
	error = access == RWLOCK_WRITES ? rwlock_write_now(rwlock, self, site)
					: rwlock_read_now(rwlock, self, site);
	shared_leave(rwlock->is_shared);
	if (error) {
		engine_failed();
		return error;
	}
	self->held_count++;
	engine_changed(rwlock);
	return 0;
}

static void rwlock_count_waiting(struct rwlock *rwlock, int change)
{
	shared_enter(rwlock->is_shared);
	rwlock->waiting_writers += (uint32_t)change;
	shared_leave(rwlock->is_shared);
	engine_changed(rwlock);
}

/* A waiting writer excludes readers with RWLOCK_PREFERS_WRITERS. The beginning of its wait is
 * therefore a scheduling point of its own. */
static enum engine_result rwlock_wait_as_preferred_writer(
	struct rwlock *rwlock, struct engine_op *op)
{
	enum engine_result result;

	op->ready = NULL;
	result = engine_perform(op);
	op->ready = rwlock_is_ready_to_write;
	if (result != WAIT_DONE || op->ready(op, engine_current()))
		return result;
	engine_failed(); /* the first op has only begun the wait */
	/* the wait must not be left without decrementing the count */
	op->interruptions = INTERRUPT_NEVER;
	rwlock_count_waiting(rwlock, 1);
	result = engine_perform(op);
	rwlock_count_waiting(rwlock, -1);
	return result;
}

int rwlock_lock(
	struct rwlock *rwlock, enum rwlock_access access, uint64_t deadline_ns, uint64_t site)
{
	const bool writes = access == RWLOCK_WRITES;
	struct engine_op op = {.kind = writes ? OP_RWLOCK_WRLOCK : OP_RWLOCK_RDLOCK,
		.address = rwlock,
		.site = site,
		.is_shared = rwlock->is_shared,
		.ready = writes ? rwlock_is_ready_to_write : rwlock_is_ready_to_read,
		.deadline_ns = deadline_ns};
	enum engine_result result;
	int error;

	do {
		if (writes && rwlock->kind == RWLOCK_PREFERS_WRITERS)
			result = rwlock_wait_as_preferred_writer(rwlock, &op);
		else
			result = engine_perform(&op);
		error = result == WAIT_DONE ? rwlock_acquire(rwlock, access, site)
					    : sync_error(result);
	} while (error == SYNC_AGAIN);
	return error;
}

int rwlock_trylock(struct rwlock *rwlock, enum rwlock_access access, uint64_t site)
{
	const bool writes = access == RWLOCK_WRITES;

	engine_point(writes ? OP_RWLOCK_TRYWRLOCK : OP_RWLOCK_TRYRDLOCK, rwlock, site);
	if (writes ? rwlock_is_free(rwlock) : rwlock_admits_readers(rwlock)) {
		int error = rwlock_acquire(rwlock, access, site);

		if (error != SYNC_AGAIN)
			return error;
	}
	engine_unproductive();
	return EBUSY;
}

/* The unlock of one reader commutes with the unlocks of other readers, and with their acquisitions. If the op did not say
 * so, an exhaustive search would believe that the critical sections of two readers are ordered, as those of writers are. */
static void rwlock_unlock_point(const struct rwlock *rwlock, uint64_t site)
{
	struct engine_op op = {.kind = OP_RWLOCK_UNLOCK,
		.address = rwlock,
		.site = site,
		.is_read = rwlock->readers && !rwlock->writer,
		.deadline_ns = ENGINE_FOREVER};

	(void)engine_perform(&op);
}

int rwlock_unlock(struct rwlock *rwlock, uint64_t site)
{
	struct engine_thread *self = engine_current();

	rwlock_unlock_point(rwlock, site);
	if (!rwlock_may_be_held_by(rwlock, self))
		engine_fail_at_lock(OUTCOME_UNLOCK_NOT_OWNED, OP_RWLOCK_WRLOCK, rwlock, site);
	if (self->held_count)
		self->held_count--;
	shared_enter(rwlock->is_shared);
	if (rwlock->writer) {
		rwlock->writer = 0;
		rwlock->writer_kernel_id = 0;
	} else if (rwlock->readers) {
		rwlock_remove_reader(rwlock, sync_mark(self));
	}
	shared_leave(rwlock->is_shared);
	engine_changed(rwlock);
	return 0;
}

struct thread_id rwlock_holder(const struct rwlock *rwlock, uint64_t *site)
{
	uint16_t mark = rwlock->is_shared ? 0
			: rwlock->writer  ? rwlock->writer
			: rwlock->readers ? rwlock->reader
					  : 0;

	*site = mark ? rwlock->site : 0;
	for (int i = 0; !mark && i < RWLOCK_KNOWN_READERS; i++)
		mark = rwlock->known_readers[i];
	return sync_holder(mark);
}
