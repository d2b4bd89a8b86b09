/* EXPECT: passed runs=2000 needs=memory */
/* The twin of lock_slots: there is a slot for each thread. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define THREADS 3
#define SLOTS 3

static atomic_int is_open[SLOTS] = {1};
static atomic_uint tickets;
static int inside;

static unsigned lock(void)
{
	const unsigned slot = atomic_fetch_add(&tickets, 1) % SLOTS;

	while (!atomic_load(&is_open[slot]))
		;
	return slot;
}

static void unlock(unsigned slot)
{
	atomic_store(&is_open[slot], 0);
	atomic_store(&is_open[(slot + 1) % SLOTS], 1);
}

static void *enter(void *unused)
{
	const unsigned slot = lock();

	inside++;
	assert(inside == 1);
	inside--;
	unlock(slot);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, enter, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
