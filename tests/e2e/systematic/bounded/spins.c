/* Loops that wait for another thread: one reads a flag, one yields, one tries a lock. All of them end. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int is_ready, is_open;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_by_reading(void *unused)
{
	while (!atomic_load(&is_ready))
		;
	atomic_store(&is_open, 1);
	return unused;
}

static void *wait_by_yielding(void *unused)
{
	while (!atomic_load(&is_open))
		sched_yield();
	while (pthread_mutex_trylock(&lock) != 0)
		;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_mutex_lock(&lock);
	pthread_create(&threads[0], NULL, wait_by_reading, NULL);
	pthread_create(&threads[1], NULL, wait_by_yielding, NULL);
	atomic_store(&is_ready, 1);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
