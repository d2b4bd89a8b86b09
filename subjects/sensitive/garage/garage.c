/*
 * EXPECT-BRANCH: assert(!atomic_load(&is_closed)); [bug]
 * EXPECT-BRANCH: while (!atomic_load(&begun)) [ad hoc synchronisation]
 * EXPECT-BRANCH: while (!atomic_load(&order)) [ad hoc synchronisation|bug]
 *
 * Garage: workers wait for the manager's order by reading it again and again. The manager assumes
 * that all of them have begun when he closes.
 */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#define WORKERS 2

static atomic_int order, begun;
static atomic_bool is_closed;

static void *work(void *unused)
{
	while (!atomic_load(&order))
		sched_yield();
	assert(!atomic_load(&is_closed));
	atomic_fetch_add(&begun, 1);
	return unused;
}

int main(void)
{
	pthread_t workers[WORKERS];

	for (int i = 0; i < WORKERS; i++)
		pthread_create(&workers[i], NULL, work, NULL);
	atomic_store(&order, 1);
	while (!atomic_load(&begun))
		sched_yield();
	atomic_store(&is_closed, true);
	for (int i = 0; i < WORKERS; i++)
		pthread_join(workers[i], NULL);
	return 0;
}
