/*
 * usage: limit KIND. Two threads go on beyond any limit of steps. They compute on their own arrays (arrays), or in critical
 * sections (sections). Or they wait for ever and count: for a lock (tries), for it with another lock held (retries), or for
 * each other (yields).
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#define ENTRIES 64
#define ROUNDS 4000

static pthread_mutex_t held = PTHREAD_MUTEX_INITIALIZER,
		       own[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t shared = PTHREAD_MUTEX_INITIALIZER;
static const char *kind;
static unsigned long total;
/* Not static: the compiler must not know that no function reads it. */
unsigned long arrays[2][ENTRIES];

static unsigned long compute(unsigned long *array, int is_shared)
{
	array[0] = 1;
	for (int round = 0; round < ROUNDS; round++) {
		if (is_shared) {
			pthread_mutex_lock(&shared);
			total++;
			pthread_mutex_unlock(&shared);
		}
		for (int i = 1; i < ENTRIES; i++)
			array[i] += array[i - 1] * 33;
	}
	return array[ENTRIES - 1];
}

static unsigned long wait_for_ever(pthread_mutex_t *lock)
{
	unsigned long count = 0;

	for (;; count++) {
		if (strcmp(kind, "tries") == 0) {
			if (pthread_mutex_trylock(&held) == 0)
				return count;
		} else if (strcmp(kind, "retries") == 0) {
			pthread_mutex_lock(lock);
			if (pthread_mutex_trylock(&held) == 0)
				return count;
			pthread_mutex_unlock(lock);
		} else {
			sched_yield();
		}
	}
}

static void *work(void *number)
{
	const size_t index = (size_t)number;
	unsigned long result;

	if (strcmp(kind, "arrays") == 0 || strcmp(kind, "sections") == 0)
		result = compute(arrays[index], kind[0] == 's');
	else
		result = wait_for_ever(&own[index]);
	return (void *)(result | 1);
}

int main(int count, char **arguments)
{
	pthread_t threads[2];

	if (count < 2)
		return 2;
	kind = arguments[1];
	pthread_mutex_lock(&held);
	for (size_t i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (size_t i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
