#include <pthread.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

static struct spin *spin_of(pthread_spinlock_t *spin)
{
	return (struct spin *)spin;
}

EXPORT int pthread_spin_init(pthread_spinlock_t *spin, int is_shared)
{
	ENTER();
	spin_init(spin_of(spin), is_shared == PTHREAD_PROCESS_SHARED);
	return 0;
}

INTERPOSED(int, pthread_spin_destroy, (pthread_spinlock_t * spin),
	spin_destroy(spin_of(spin), CALL_SITE));
INTERPOSED(int, pthread_spin_lock, (pthread_spinlock_t * spin),
	sync_result(spin_lock(spin_of(spin), CALL_SITE)));
INTERPOSED(int, pthread_spin_trylock, (pthread_spinlock_t * spin),
	spin_trylock(spin_of(spin), CALL_SITE));
INTERPOSED(int, pthread_spin_unlock, (pthread_spinlock_t * spin),
	spin_unlock(spin_of(spin), CALL_SITE));
