#include <pthread.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

static struct cond *cond_of(pthread_cond_t *cond)
{
	return (struct cond *)cond;
}

/* Unlike in lock functions, an invalid time is refused before the mutex is released. */
static int cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock,
	const struct timespec *time, uint64_t site)
{
	if (!sync_is_valid_time(time))
		return EINVAL;
	return sync_result(cond_wait(
		cond_of(cond), (struct mutex *)mutex, runtime_deadline(clock, time), site));
}

EXPORT int pthread_cond_init(pthread_cond_t *cond, const pthread_condattr_t *attributes)
{
	clockid_t clock = CLOCK_REALTIME;
	int shared = PTHREAD_PROCESS_PRIVATE;

	ENTER();
	if (attributes) {
		pthread_condattr_getclock(attributes, &clock);
		pthread_condattr_getpshared(attributes, &shared);
	}
	cond_init(cond_of(cond), clock, shared == PTHREAD_PROCESS_SHARED);
	return 0;
}

INTERPOSED(
	int, pthread_cond_destroy, (pthread_cond_t * cond), cond_destroy(cond_of(cond), CALL_SITE));
INTERPOSED(int, pthread_cond_wait, (pthread_cond_t * cond, pthread_mutex_t *mutex),
	sync_result(cond_wait(cond_of(cond), (struct mutex *)mutex, ENGINE_FOREVER, CALL_SITE)));
INTERPOSED(int, pthread_cond_timedwait,
	(pthread_cond_t * cond, pthread_mutex_t *mutex, const struct timespec *time),
	cond_wait_until(cond, mutex, cond_of(cond)->clock, time, CALL_SITE));

EXPORT int pthread_cond_clockwait(
	pthread_cond_t *cond, pthread_mutex_t *mutex, clockid_t clock, const struct timespec *time)
{
	ENTER();
	if (!sync_has_clock(clock))
		return EINVAL;
	return cond_wait_until(cond, mutex, clock, time, CALL_SITE);
}

EXPORT int pthread_cond_signal(pthread_cond_t *cond)
{
	ENTER();
	cond_signal(cond_of(cond), CALL_SITE);
	return 0;
}

EXPORT int pthread_cond_broadcast(pthread_cond_t *cond)
{
	ENTER();
	cond_broadcast(cond_of(cond), CALL_SITE);
	return 0;
}
