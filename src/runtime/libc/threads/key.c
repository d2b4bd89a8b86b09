/* Thread-specific keys. The values stay in glibc's thread block. The runtime has its own table of
 * destructors, because glibc runs them only at the end of its own threads. */
#include <limits.h>
#include <pthread.h>

#include "base/hot_state.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* One slot per glibc key. */
static struct {
	bool is_used[PTHREAD_KEYS_MAX];
	void (*destructor[PTHREAD_KEYS_MAX])(void *);
} keys;

/* One past the highest key ever created */
static HOT_STATE pthread_key_t key_end;

EXPORT int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	ENTER();
	int error = REAL(pthread_key_create)(key, destructor);

	if (error || *key >= PTHREAD_KEYS_MAX)
		return error;
	keys.is_used[*key] = true;
	keys.destructor[*key] = destructor;
	if (*key >= key_end)
		key_end = *key + 1;
	return 0;
}

EXPORT int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *));
EXPORT int __pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	return pthread_key_create(key, destructor);
}

EXPORT int pthread_key_delete(pthread_key_t key)
{
	ENTER();
	if (key < PTHREAD_KEYS_MAX)
		keys.is_used[key] = false;
	return REAL(pthread_key_delete)(key);
}

static bool key_run_round(void)
{
	bool has_run = false;

	for (pthread_key_t key = 0; key < key_end; key++) {
		void *value = keys.is_used[key] ? pthread_getspecific(key) : NULL;

		if (!value)
			continue;
		(void)pthread_setspecific(key, NULL);
		if (keys.destructor[key]) {
			has_run = true;
			keys.destructor[key](value);
		}
	}
	return has_run;
}

void runtime_run_key_destructors(void)
{
	for (int round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS; round++)
		if (!key_run_round())
			return;
	/* The exit of the kernel thread must not run destructors of values set again. */
	for (pthread_key_t key = 0; key < key_end; key++)
		if (keys.is_used[key] && pthread_getspecific(key))
			(void)pthread_setspecific(key, NULL);
}
