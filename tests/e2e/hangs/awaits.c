/* main.1 waits in a loop for a flag that main.0 sets only if main has been faster. With an argument main is always.
 * With "yields" both threads wait in a loop that yields. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int started, ready;

static void *set_flag(void *none)
{
	if (atomic_load(&started))
		atomic_store(&ready, 1);
	return none;
}

static void *await_flag(void *none)
{
	while (!atomic_load(&ready))
		;
	return none;
}

static void *yield_until_flag(void *none)
{
	while (!atomic_load(&ready))
		sched_yield();
	return none;
}

int main(int argc, char **argv)
{
	const int yields = argc > 1 && !strcmp(argv[1], "yields");
	pthread_t setter, waiter;

	if (argc > 1)
		atomic_store(&started, 1);
	pthread_create(&setter, NULL, yields ? yield_until_flag : set_flag, NULL);
	atomic_store(&started, 1);
	pthread_create(&waiter, NULL, yields ? yield_until_flag : await_flag, NULL);
	pthread_join(setter, NULL);
	pthread_join(waiter, NULL);
	return 0;
}
