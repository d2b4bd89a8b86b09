#include <pthread.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

static struct mutex *mutex_of(pthread_mutex_t *mutex)
{
	return (struct mutex *)mutex;
}

static int32_t mutex_kind_of(const pthread_mutexattr_t *attributes, int *ceiling)
{
	int32_t kind = 0;
	int type, robust, protocol, shared;

	pthread_mutexattr_gettype(attributes, &type);
	pthread_mutexattr_getrobust(attributes, &robust);
	pthread_mutexattr_getprotocol(attributes, &protocol);
	pthread_mutexattr_getpshared(attributes, &shared);
	kind = type & MUTEX_TYPE_MASK;
	if (robust == PTHREAD_MUTEX_ROBUST)
		kind |= MUTEX_ROBUST;
	if (shared == PTHREAD_PROCESS_SHARED)
		kind |= MUTEX_SHARED;
	if (protocol == PTHREAD_PRIO_INHERIT)
		kind |= MUTEX_INHERITS_PRIORITY;
	if (protocol == PTHREAD_PRIO_PROTECT) {
		kind |= MUTEX_PROTECTS_PRIORITY;
		pthread_mutexattr_getprioceiling(attributes, ceiling);
	}
	return kind;
}

EXPORT int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
	ENTER();
	int ceiling = 0;
	int32_t kind = attributes ? mutex_kind_of(attributes, &ceiling) : MUTEX_NORMAL;

	return mutex_init(mutex_of(mutex), kind, (uint8_t)ceiling);
}

INTERPOSED(int, pthread_mutex_destroy, (pthread_mutex_t * mutex),
	mutex_destroy(mutex_of(mutex), CALL_SITE));
INTERPOSED(int, pthread_mutex_lock, (pthread_mutex_t * mutex),
	sync_result(mutex_lock(mutex_of(mutex), ENGINE_FOREVER, CALL_SITE)));
INTERPOSED(int, pthread_mutex_trylock, (pthread_mutex_t * mutex),
	mutex_trylock(mutex_of(mutex), CALL_SITE));
INTERPOSED(int, pthread_mutex_timedlock, (pthread_mutex_t * mutex, const struct timespec *time),
	sync_timed_result(
		mutex_lock(mutex_of(mutex), sync_deadline(CLOCK_REALTIME, time), CALL_SITE), time));

EXPORT int pthread_mutex_clocklock(
	pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
	ENTER();
	if (!sync_has_clock(clock))
		return EINVAL;
	return sync_timed_result(
		mutex_lock(mutex_of(mutex), sync_deadline(clock, time), CALL_SITE), time);
}

INTERPOSED(int, pthread_mutex_unlock, (pthread_mutex_t * mutex),
	mutex_unlock(mutex_of(mutex), CALL_SITE));
INTERPOSED(int, pthread_mutex_consistent, (pthread_mutex_t * mutex),
	mutex_consistent(mutex_of(mutex)));
INTERPOSED(int, pthread_mutex_getprioceiling, (const pthread_mutex_t *mutex, int *ceiling),
	mutex_get_ceiling((const struct mutex *)mutex, ceiling));
INTERPOSED(int, pthread_mutex_setprioceiling, (pthread_mutex_t * mutex, int ceiling, int *old),
	sync_result(mutex_set_ceiling(mutex_of(mutex), ceiling, old, CALL_SITE)));

/* Called by old binaries and libraries. */
EXPORT_ALIAS(pthread_mutex_consistent_np, pthread_mutex_consistent);
EXPORT_ALIAS(__pthread_mutex_init, pthread_mutex_init);
EXPORT_ALIAS(__pthread_mutex_destroy, pthread_mutex_destroy);
EXPORT_ALIAS(__pthread_mutex_lock, pthread_mutex_lock);
EXPORT_ALIAS(__pthread_mutex_trylock, pthread_mutex_trylock);
EXPORT_ALIAS(__pthread_mutex_unlock, pthread_mutex_unlock);
