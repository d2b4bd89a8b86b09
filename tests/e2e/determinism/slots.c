/*
 * Two threads test whether a slot of a table is free, and then put a block there. The slot is a hash
 * of the block's address. The program fails if both blocks have the same slot, which depends on the
 * layout, and both threads test before either puts. The argument chooses one of several hashes.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static void *slots[4];
static uint32_t factor;
static int lost;

static void *put(void *bytes)
{
	void *block = malloc((size_t)(uintptr_t)bytes);
	const uint32_t slot = (uint32_t)((uintptr_t)block >> 4) * factor >> 30;
	void *found;

	pthread_mutex_lock(&mutex);
	found = slots[slot];
	pthread_mutex_unlock(&mutex);
	pthread_mutex_lock(&mutex);
	lost |= !found && slots[slot];
	slots[slot] = block;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

int main(int argument_count, char **arguments)
{
	pthread_t one, two;

	factor = UINT32_C(2654435761) *
		 (uint32_t)(argument_count > 1 ? atoi(arguments[1]) * 2 + 1 : 1);
	pthread_create(&one, NULL, put, (void *)1000);
	pthread_create(&two, NULL, put, (void *)1300);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
	if (lost)
		abort();
	return 0;
}
