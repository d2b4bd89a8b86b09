/* <threads.h>. glibc's versions call their pthread counterparts by names that cannot be interposed.
 * thrd_sleep is in sleep.c, call_once in once.c; thrd_current, thrd_equal, tss_get and tss_set stay
 * glibc's. */
#include <stdint.h>
#include <threads.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"
#include "runtime/runtime.h"

_Static_assert(sizeof(struct mutex) == sizeof(mtx_t), "a mtx_t is a pthread_mutex_t");
_Static_assert(sizeof(struct cond) == sizeof(cnd_t), "a cnd_t is a pthread_cond_t");

static int c11_result(int error)
{
	switch (error) {
	case 0:
		return thrd_success;
	case ENOMEM:
		return thrd_nomem;
	case ETIMEDOUT:
		return thrd_timedout;
	case EBUSY:
		return thrd_busy;
	default:
		return thrd_error;
	}
}

/* An int in the lower half of the register of a returned pointer. */
INTERPOSED(int, thrd_create, (thrd_t * thread, thrd_start_t start, void *argument),
	c11_result(runtime_thread_create(
		thread, NULL, (void *(*)(void *))(void (*)(void))start, argument, CALL_SITE)));

EXPORT int thrd_join(thrd_t thread, int *result)
{
	ENTER();
	void *value;
	int error = runtime_thread_join(thread, &value, ENGINE_FOREVER, CALL_SITE);

	if (!error && result)
		*result = (int)(intptr_t)value;
	return c11_result(error);
}

INTERPOSED(int, thrd_detach, (thrd_t thread), c11_result(runtime_thread_detach(thread, CALL_SITE)));

EXPORT void thrd_exit(int result)
{
	ENTER();
	pthread_exit((void *)(intptr_t)result);
}

static struct mutex *c11_mtx_of(mtx_t *mutex)
{
	return (struct mutex *)mutex;
}

EXPORT int mtx_init(mtx_t *mutex, int type)
{
	ENTER();
	if (type & ~(mtx_recursive | mtx_timed))
		return thrd_error;
	return c11_result(mutex_init(
		c11_mtx_of(mutex), type & mtx_recursive ? MUTEX_RECURSIVE : MUTEX_NORMAL, 0));
}

EXPORT void mtx_destroy(mtx_t *mutex)
{
	ENTER();
	(void)mutex_destroy(c11_mtx_of(mutex), CALL_SITE); /* the C11 function returns nothing */
}

INTERPOSED(int, mtx_lock, (mtx_t * mutex),
	c11_result(sync_result(mutex_lock(c11_mtx_of(mutex), ENGINE_FOREVER, CALL_SITE))));
INTERPOSED(
	int, mtx_trylock, (mtx_t * mutex), c11_result(mutex_trylock(c11_mtx_of(mutex), CALL_SITE)));
INTERPOSED(int, mtx_timedlock, (mtx_t *restrict mutex, const struct timespec *restrict time),
	c11_result(sync_timed_result(
		mutex_lock(c11_mtx_of(mutex), sync_deadline(CLOCK_REALTIME, time), CALL_SITE),
		time)));
INTERPOSED(
	int, mtx_unlock, (mtx_t * mutex), c11_result(mutex_unlock(c11_mtx_of(mutex), CALL_SITE)));

static struct cond *c11_cnd_of(cnd_t *cond)
{
	return (struct cond *)cond;
}

EXPORT int cnd_init(cnd_t *cond)
{
	ENTER();
	cond_init(c11_cnd_of(cond), CLOCK_REALTIME, false);
	return thrd_success;
}

EXPORT void cnd_destroy(cnd_t *cond)
{
	ENTER();
	(void)cond_destroy(c11_cnd_of(cond), CALL_SITE);
}

INTERPOSED(int, cnd_wait, (cnd_t * cond, mtx_t *mutex),
	c11_result(sync_result(
		cond_wait(c11_cnd_of(cond), c11_mtx_of(mutex), ENGINE_FOREVER, CALL_SITE))));

EXPORT int cnd_timedwait(
	cnd_t *restrict cond, mtx_t *restrict mutex, const struct timespec *restrict time)
{
	ENTER();
	if (!sync_is_valid_time(time))
		return thrd_error;
	return c11_result(sync_result(cond_wait(c11_cnd_of(cond), c11_mtx_of(mutex),
		runtime_deadline(CLOCK_REALTIME, time), CALL_SITE)));
}

EXPORT int cnd_signal(cnd_t *cond)
{
	ENTER();
	cond_signal(c11_cnd_of(cond), CALL_SITE);
	return thrd_success;
}

EXPORT int cnd_broadcast(cnd_t *cond)
{
	ENTER();
	cond_broadcast(c11_cnd_of(cond), CALL_SITE);
	return thrd_success;
}

INTERPOSED(int, tss_create, (tss_t * key, tss_dtor_t destructor),
	c11_result(pthread_key_create(key, destructor)));

EXPORT void tss_delete(tss_t key)
{
	ENTER();
	(void)pthread_key_delete(key);
}
