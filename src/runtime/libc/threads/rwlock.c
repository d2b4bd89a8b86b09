#include <pthread.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

static struct rwlock *rwlock_of(pthread_rwlock_t *rwlock)
{
	return (struct rwlock *)rwlock;
}

EXPORT int pthread_rwlock_init(pthread_rwlock_t *rwlock, const pthread_rwlockattr_t *attributes)
{
	int kind = PTHREAD_RWLOCK_DEFAULT_NP;
	int shared = PTHREAD_PROCESS_PRIVATE;

	ENTER();
	if (attributes) {
		pthread_rwlockattr_getkind_np(attributes, &kind);
		pthread_rwlockattr_getpshared(attributes, &shared);
	}
	rwlock_init(rwlock_of(rwlock), (uint32_t)kind, shared == PTHREAD_PROCESS_SHARED);
	return 0;
}

INTERPOSED(int, pthread_rwlock_destroy, (pthread_rwlock_t * rwlock),
	rwlock_destroy(rwlock_of(rwlock), CALL_SITE));
INTERPOSED(int, pthread_rwlock_rdlock, (pthread_rwlock_t * rwlock),
	sync_result(rwlock_lock(rwlock_of(rwlock), RWLOCK_READS, ENGINE_FOREVER, CALL_SITE)));
INTERPOSED(int, pthread_rwlock_wrlock, (pthread_rwlock_t * rwlock),
	sync_result(rwlock_lock(rwlock_of(rwlock), RWLOCK_WRITES, ENGINE_FOREVER, CALL_SITE)));
INTERPOSED(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t * rwlock),
	rwlock_trylock(rwlock_of(rwlock), RWLOCK_READS, CALL_SITE));
INTERPOSED(int, pthread_rwlock_trywrlock, (pthread_rwlock_t * rwlock),
	rwlock_trylock(rwlock_of(rwlock), RWLOCK_WRITES, CALL_SITE));

static int rwlock_lock_until(pthread_rwlock_t *rwlock, enum rwlock_access access, clockid_t clock,
	const struct timespec *time, uint64_t site)
{
	if (!sync_has_clock(clock))
		return EINVAL;
	return sync_timed_result(
		rwlock_lock(rwlock_of(rwlock), access, sync_deadline(clock, time), site), time);
}

INTERPOSED(int, pthread_rwlock_timedrdlock,
	(pthread_rwlock_t * rwlock, const struct timespec *time),
	rwlock_lock_until(rwlock, RWLOCK_READS, CLOCK_REALTIME, time, CALL_SITE));
INTERPOSED(int, pthread_rwlock_timedwrlock,
	(pthread_rwlock_t * rwlock, const struct timespec *time),
	rwlock_lock_until(rwlock, RWLOCK_WRITES, CLOCK_REALTIME, time, CALL_SITE));
INTERPOSED(int, pthread_rwlock_clockrdlock,
	(pthread_rwlock_t * rwlock, clockid_t clock, const struct timespec *time),
	rwlock_lock_until(rwlock, RWLOCK_READS, clock, time, CALL_SITE));
INTERPOSED(int, pthread_rwlock_clockwrlock,
	(pthread_rwlock_t * rwlock, clockid_t clock, const struct timespec *time),
	rwlock_lock_until(rwlock, RWLOCK_WRITES, clock, time, CALL_SITE));
INTERPOSED(int, pthread_rwlock_unlock, (pthread_rwlock_t * rwlock),
	rwlock_unlock(rwlock_of(rwlock), CALL_SITE));

EXPORT_ALIAS(__pthread_rwlock_init, pthread_rwlock_init);
EXPORT_ALIAS(__pthread_rwlock_destroy, pthread_rwlock_destroy);
EXPORT_ALIAS(__pthread_rwlock_rdlock, pthread_rwlock_rdlock);
EXPORT_ALIAS(__pthread_rwlock_wrlock, pthread_rwlock_wrlock);
EXPORT_ALIAS(__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock);
EXPORT_ALIAS(__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock);
EXPORT_ALIAS(__pthread_rwlock_unlock, pthread_rwlock_unlock);
