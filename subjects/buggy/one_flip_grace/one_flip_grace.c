/* EXPECT: abort runs<=1000 needs=memory */
/*
 * Read-copy-update with two counters of readers. The updater exchanges the counters once per grace
 * period. Fails: a reader has read the index and is stopped; the first grace period ends without it;
 * it counts itself and reads the object; the second grace period waits for the other counter.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#define UPDATES 3

static atomic_int readers[2], index_now, published;
static atomic_int is_freed[UPDATES + 1];

static void *read_objects(void *unused)
{
	for (int i = 0; i < 2; i++) {
		const int at = atomic_load(&index_now);
		int object;

		atomic_fetch_add(&readers[at], 1);
		object = atomic_load(&published);
		assert(!atomic_load(&is_freed[object]));
		atomic_fetch_sub(&readers[at], 1);
	}
	return unused;
}

static void wait_for_readers(void)
{
	const int old = atomic_load(&index_now);

	atomic_store(&index_now, 1 - old);
	while (atomic_load(&readers[old]))
		sched_yield();
}

static void *update(void *unused)
{
	for (int i = 0; i < UPDATES; i++) {
		atomic_store(&published, i + 1);
		wait_for_readers();
		atomic_store(&is_freed[i], 1);
	}
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, read_objects, NULL);
	pthread_create(&threads[1], NULL, update, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
