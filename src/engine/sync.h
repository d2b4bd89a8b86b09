/*
 * The meaning of the synchronisation objects of POSIX threads. Each object stores its whole state
 * in the target's own object, with the layout of glibc's type. Static initialisers, reuse of memory
 * and rewind therefore need no extra work. POSIX is the specification; functions return its error
 * codes, or SYNC_CANCELLED.
 *
 * Each function contains its own scheduling points. Deadlines are virtual nanoseconds,
 * ENGINE_FOREVER for none; sites are return addresses in the target.
 */
#pragma once

#include <errno.h>
#include <string.h>

#include "engine/engine.h"

/* The thread must act on a cancellation; the effects of the call are undone. */
#define SYNC_CANCELLED (-1)
/* Inside the engine: another process acquired the object first, perform the op again. */
#define SYNC_AGAIN (-2)
/* Mark in a destroyed condition variable or read-write lock; a mutex has kind < 0. */
#define SYNC_DESTROYED (-1)

/* Returns the representation of a thread in an object: index + 1. Zeroed memory means no thread. */
static inline uint16_t sync_mark(const struct engine_thread *thread)
{
	return (uint16_t)(thread->id.index + 1);
}

/* Returns NULL if there is none. An uninitialised, freed or overwritten object may contain any
 * value; that bug of the target must not crash the runtime. */
static inline struct engine_thread *sync_thread(uint32_t mark)
{
	return mark && mark <= engine_thread_count() ? engine_thread(mark - 1) : NULL;
}

static inline struct thread_id sync_holder(uint32_t mark)
{
	const struct engine_thread *thread = sync_thread(mark);

	return thread ? thread->id : THREAD_NONE;
}

static inline int sync_error(enum engine_result result)
{
	switch (result) {
	case WAIT_TIMED_OUT:
		return ETIMEDOUT;
	case WAIT_INTERRUPTED:
		return EINTR;
	case WAIT_CANCELLED:
		return SYNC_CANCELLED;
	case WAIT_DONE:
		break;
	}
	return 0;
}

/* pthread_mutex_t, all kinds. Priority protocols only check the ceiling; they do not raise the
 * holder's priority. */

/* glibc's bits of __kind; static initialisers contain them. */
enum mutex_kind {
	MUTEX_NORMAL = 0,
	MUTEX_RECURSIVE = 1,
	MUTEX_ERRORCHECK = 2,
	MUTEX_ADAPTIVE = 3,
	MUTEX_TYPE_MASK = 3,
	MUTEX_ROBUST = 16,
	MUTEX_INHERITS_PRIORITY = 32,
	MUTEX_PROTECTS_PRIORITY = 64,
	MUTEX_SHARED = 128
};

/* A mutex. It has glibc's layout for fields that debuggers and initialisers access: lock, count,
 * owner, kind. */
struct mutex {
	int32_t lock;
	uint32_t count;	 /* recursive kind: times locked */
	int32_t owner;	 /* kernel id of the holder; MUTEX_SHARED: of its process */
	uint32_t users;	 /* the holder, and waiters of condition variables that will reacquire it */
	int32_t kind;	 /* enum mutex_kind, or'ed; negative: destroyed */
	uint16_t holder; /* sync_mark of the holder */
	uint8_t state;	 /* robust kinds: enum mutex_state */
	uint8_t ceiling;
	uint64_t site;
	struct mutex *next_robust;
};

enum mutex_state {
	MUTEX_INCONSISTENT = 1, /* the holder ended; the next lock operation returns EOWNERDEAD */
	MUTEX_UNRECOVERABLE = 2
};

int mutex_init(struct mutex *mutex, int32_t kind, uint8_t ceiling);
/* Returns EBUSY if in use. Destroying a held mutex is a failure of the run. */
int mutex_destroy(struct mutex *mutex, uint64_t site);

/* Returns 0, EOWNERDEAD (acquired), ENOTRECOVERABLE, EDEADLK, EAGAIN, EINVAL, ETIMEDOUT,
 * SYNC_CANCELLED. */
int mutex_lock(struct mutex *mutex, uint64_t deadline_ns, uint64_t site);
/* Returns EBUSY if held; else as mutex_lock(). */
int mutex_trylock(struct mutex *mutex, uint64_t site);
/* Returns 0 or EPERM. Unlocking a normal mutex of another thread is a failure of the run. */
int mutex_unlock(struct mutex *mutex, uint64_t site);
/* Declares the state protected by a robust mutex consistent. Returns 0 or EINVAL. */
int mutex_consistent(struct mutex *mutex);

/* Get and set the priority ceiling. Return EINVAL for mutexes without MUTEX_PROTECTS_PRIORITY. */
int mutex_get_ceiling(const struct mutex *mutex, int *ceiling);
int mutex_set_ceiling(struct mutex *mutex, int ceiling, int *old, uint64_t site);

/* Releases the mutex once and counts the caller as a user that returns. Returns 0 or EPERM. */
int mutex_leave(struct mutex *mutex, uint64_t site);
/* An op that waits to reacquire the mutex after mutex_leave(). */
struct engine_op mutex_return_op(const struct mutex *mutex, uint64_t site);
/* Reacquires the mutex when that op is ready; may return SYNC_AGAIN. */
int mutex_return(struct mutex *mutex, uint64_t site);

/* Frees the robust mutexes of an ending thread; the next lock operation returns EOWNERDEAD. */
void engine_mutex_owner_died(struct engine_thread *thread);

/* pthread_cond_t. Waiters form a queue in order of arrival, linked through engine_thread. A signal
 * removes one waiter, which the strategy chooses, and changes its pending op to a wait for the
 * mutex. Wake-up and acquisition are thus one step, and evidence shows the holder of that mutex. */

/* A condition variable. All zero is PTHREAD_COND_INITIALIZER: no waiters, CLOCK_REALTIME. */
struct cond {
	uint16_t first;
	uint16_t last;
	uint16_t waiter_count;
	uint16_t lost_signals; /* sent in `run` while no thread waited; saturates */
	int32_t clock;	       /* clock of pthread_cond_timedwait(); or SYNC_DESTROYED */
	/* Shared objects (shared_enter()) have no queue: a signal permits one waiter to return. */
	uint32_t is_shared;
	uint32_t waiting;      /* number of waiters of all processes */
	uint32_t arrivals;     /* waits so far: the ticket of the next wait */
	uint32_t limit;	       /* waiters with a ticket below this one may return, ... */
	uint32_t granted;      /* number of these waiters that may return */
	uint32_t is_signalled; /* by a signal in `run` */
	uint32_t run;	       /* engine_run_number() of the last signal */
	uint32_t reserved[2];
};

void cond_init(struct cond *cond, int32_t clock, bool is_shared);
/* Return whether a signal was sent in this run, and how many found no waiter. */
bool cond_was_signalled(const struct cond *cond);
uint16_t cond_lost_signals(const struct cond *cond);
/* Blocks, as glibc does, until no thread waits on the condition variable. */
int cond_destroy(struct cond *cond, uint64_t site);
/* Returns whether the object is as its initialiser left it. One that was destroyed is not. */
static inline bool cond_is_new(const struct cond *cond)
{
	const struct cond new = {.clock = cond->clock, .is_shared = cond->is_shared};

	return cond->clock != SYNC_DESTROYED && !memcmp(cond, &new, sizeof new);
}

/* Two scheduling points: release the mutex and enter the queue; return with the mutex. Returns 0
 * (signalled or spurious), ETIMEDOUT, EPERM, EOWNERDEAD, ENOTRECOVERABLE, or SYNC_CANCELLED with
 * the mutex held. A time-out or cancellation never consumes an earlier signal. */
int cond_wait(struct cond *cond, struct mutex *mutex, uint64_t deadline_ns, uint64_t site);
void cond_signal(struct cond *cond, uint64_t site);
void cond_broadcast(struct cond *cond, uint64_t site);

/* pthread_rwlock_t. The strategy chooses among the threads that POSIX permits to acquire the lock.
 * The kind PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP alone restricts the choice: a waiting
 * writer excludes new readers, so a recursive reader deadlocks. PTHREAD_RWLOCK_PREFER_WRITER_NP is
 * the default, as in glibc. */

#define RWLOCK_KNOWN_READERS 10

/* A read-write lock. It has glibc's layout for fields that debuggers and initialisers access:
 * current writer, kind. */
struct rwlock {
	uint32_t readers;
	/* writers that wait for the lock, with RWLOCK_PREFERS_WRITERS only */
	uint32_t waiting_writers;
	uint16_t writer; /* sync_mark of the writer */
	uint16_t reader; /* the most recent reader, until it unlocks */
	/* see shared_enter(); known_readers is then empty, and writer_kernel_id is a process */
	uint32_t is_shared;
	uint64_t site;
	int32_t writer_kernel_id;
	/* one sync_mark per read lock held, unordered; complete while they fit */
	uint16_t known_readers[RWLOCK_KNOWN_READERS];
	uint32_t kind;
	uint32_t reserved_last; /* 0; or SYNC_DESTROYED */
};

enum rwlock_kind { RWLOCK_PREFERS_WRITERS = 2 };

void rwlock_init(struct rwlock *rwlock, uint32_t kind, bool is_shared);
/* Returns EBUSY if held; destroying a held lock is also a failure of the run. */
int rwlock_destroy(struct rwlock *rwlock, uint64_t site);
/* As cond_is_new(). */
static inline bool rwlock_is_new(const struct rwlock *rwlock)
{
	const struct rwlock new = {.kind = rwlock->kind, .is_shared = rwlock->is_shared};

	return !memcmp(rwlock, &new, sizeof new);
}

enum rwlock_access { RWLOCK_READS, RWLOCK_WRITES };

/* Returns 0, EDEADLK (the caller is the writer), EAGAIN (too many readers), ETIMEDOUT,
 * SYNC_CANCELLED. A reader that requests a write lock blocks on itself. */
int rwlock_lock(
	struct rwlock *rwlock, enum rwlock_access access, uint64_t deadline_ns, uint64_t site);
/* Tries to lock. Returns 0 or EBUSY; EAGAIN for too many readers. */
int rwlock_trylock(struct rwlock *rwlock, enum rwlock_access access, uint64_t site);
/* Always returns 0; unlocking a lock that the caller does not hold is a failure of the run. */
int rwlock_unlock(struct rwlock *rwlock, uint64_t site);

/* A semaphore, as large as sem_t; `value` lies where glibc's lies. Interposed functions handle
 * named semaphores. */
struct semaphore {
	uint32_t value;
	uint32_t is_shared; /* see shared_enter() */
	/* changed by an initialisation at value 0, which abandons the waiters */
	uint32_t epoch;
	uint32_t reserved[5];
};

/* Returns 0 or EINVAL (value above SEM_VALUE_MAX). */
int semaphore_init(struct semaphore *semaphore, uint32_t value, bool is_shared);
void semaphore_destroy(struct semaphore *semaphore);
/* Returns 0, ETIMEDOUT, EINTR or SYNC_CANCELLED. */
int semaphore_wait(struct semaphore *semaphore, uint64_t deadline_ns, uint64_t site);
/* Returns 0 or EAGAIN. */
int semaphore_trywait(struct semaphore *semaphore, uint64_t site);
/* Returns 0 or EOVERFLOW. */
int semaphore_post(struct semaphore *semaphore, uint64_t site);
uint32_t semaphore_value(const struct semaphore *semaphore, uint64_t site);

/* A barrier, as large as pthread_barrier_t. */
struct barrier {
	uint32_t arrived;
	uint32_t round;
	uint32_t count;
	uint32_t leaving;   /* released, but not yet returned from barrier_wait() */
	uint32_t is_shared; /* see shared_enter() */
	uint32_t reserved[3];
};

/* Returns 0, or EINVAL (count is 0 or exceeds glibc's limit). */
int barrier_init(struct barrier *barrier, uint32_t count, bool is_shared);
/* Blocks, as glibc does, until every released thread has returned and no thread waits. */
int barrier_destroy(struct barrier *barrier, uint64_t site);
/* The last thread to arrive gets PTHREAD_BARRIER_SERIAL_THREAD at once; the others get 0. */
int barrier_wait(struct barrier *barrier, uint64_t site);

/* pthread_spinlock_t. A thread that waits for the lock does not spin, but is disabled while the
 * lock is held. Value 1 means free, like in glibc; 0 or less is minus the sync_mark of the holder.
 * Shared locks (shared_enter()): 2 is free, and values far below 0 contain the id of the holding
 * process. */
struct spin {
	int32_t value;
};

void spin_init(struct spin *spin, bool is_shared);
/* Returns EBUSY if held; destroying a held lock is also a failure of the run. */
int spin_destroy(struct spin *spin, uint64_t site);
/* Returns 0 or SYNC_CANCELLED. The holder blocks on itself. */
int spin_lock(struct spin *spin, uint64_t site);
/* Returns 0 or EBUSY. */
int spin_trylock(struct spin *spin, uint64_t site);
/* Always returns 0; unlocking a free lock or one of another thread is a failure of the run. */
int spin_unlock(struct spin *spin, uint64_t site);

/* pthread_once_t and once_flag. The caller runs the routine between once_enter() and once_done().
 * once_abandon(): cancellation or an exception leaves it, and the next caller runs it again. */

/* A once_flag, as large as pthread_once_t. */
struct once {
	uint16_t stage;
	uint16_t runner; /* sync_mark of the thread in the routine */
};

/* The stages of a pthread_once_t. The values are glibc's, because the program may have used the
 * object before the runtime took control. */
enum once_stage { ONCE_NEVER = 0, ONCE_RUNNING = 1, ONCE_DONE = 2 };

/* Returns 0 without a scheduling point if the routine has completed. EAGAIN: the caller must run
 * the routine. SYNC_CANCELLED only under asynchronous cancellation. */
int once_enter(struct once *once, uint64_t site);
void once_done(struct once *once, uint64_t site);
/* The call is no scheduling point, because it occurs while the stack is unwound. */
void once_abandon(struct once *once);

/* The lock of a stdio stream. glibc's own functions (printf, fclose, ...) acquire it internally and
 * wait in a futex, which the engine sees only as a trapped system call. glibc therefore keeps
 * holder and depth. flockfile() uses ftrylockfile(), and on failure waits here by glibc's protocol:
 * the unlock of a contended lock wakes its futex. */

/* The lock of a stdio stream: glibc's _IO_lock_t. */
struct stream_lock {
	uint32_t word; /* 0: free, 1: held, 2: contended, held with possible waiters */
	int32_t depth; /* owned by glibc; its meaning differs between versions */
	uintptr_t owner;
};

/* Waits until the lock is unlocked; may return spuriously. The caller must try again. */
void stream_lock_sleep(struct stream_lock *stream, uint64_t site);
/* The caller acquired the lock after a wait: other threads may still wait. */
void stream_lock_got_after_sleep(struct stream_lock *stream);
void stream_lock_unlocked(struct stream_lock *stream);

/*
 * Objects of PTHREAD_PROCESS_SHARED. Their whole state lies in the object, so processes with
 * separate engines use it together. Each read-modify-write lies between shared_enter() and
 * shared_leave(). An op chosen because the object was ready is announced again if another process
 * acquired the object first. The host periodically calls engine_changed_shared()
 * (host.wait_outside).
 *
 * A program started by execve() without the runtime uses libc's incompatible representation.
 */

/* A critical section among processes; may be nested. The calls have no effect if `is_shared` is
 * false. */
void shared_enter(bool is_shared);
void shared_leave(bool is_shared);
/* `lock` lies in memory that forked processes share. Called once, before the first fork. */
void shared_set_lock(uint32_t *lock);
int32_t shared_process(void);
bool shared_process_is_gone(int32_t process);

/* Returns holder and location of acquisition for evidence. THREAD_NONE: no particular thread of this
 * process; site 0: not known. The site of a spin lock is the holder's most recent acquisition. */
struct thread_id mutex_holder(const struct mutex *mutex, uint64_t *site);
struct thread_id rwlock_holder(const struct rwlock *rwlock, uint64_t *site);
struct thread_id spin_holder(const struct spin *spin, uint64_t *site);
struct thread_id once_holder(const struct once *once);
struct thread_id stream_lock_holder(const struct stream_lock *stream);
