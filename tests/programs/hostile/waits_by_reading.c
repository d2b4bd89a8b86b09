/* EXPECT: passed runs=50 */
/*
 * Waits for another thread by reading an atomic variable again and again, with yields in between.
 * This is correct; the loop ends only if the other thread gets to run.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int is_ready;

static void *work(void *unused)
{
	atomic_store(&is_ready, 1);
	return unused;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, work, NULL);
	while (!atomic_load(&is_ready))
		sched_yield();
	pthread_join(thread, NULL);
	return 0;
}
