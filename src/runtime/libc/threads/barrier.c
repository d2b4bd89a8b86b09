#include <pthread.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

static struct barrier *barrier_of(pthread_barrier_t *barrier)
{
	return (struct barrier *)barrier;
}

EXPORT int pthread_barrier_init(
	pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes, unsigned count)
{
	int shared = PTHREAD_PROCESS_PRIVATE;

	ENTER();
	if (attributes)
		pthread_barrierattr_getpshared(attributes, &shared);
	return barrier_init(barrier_of(barrier), count, shared == PTHREAD_PROCESS_SHARED);
}

INTERPOSED(int, pthread_barrier_destroy, (pthread_barrier_t * barrier),
	barrier_destroy(barrier_of(barrier), CALL_SITE));
INTERPOSED(int, pthread_barrier_wait, (pthread_barrier_t * barrier),
	barrier_wait(barrier_of(barrier), CALL_SITE));
