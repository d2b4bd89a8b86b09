/* main.1 waits in a loop for a flag that main.0 sets only if main has been faster. With an argument main is always. */
#include <pthread.h>
#include <stdatomic.h>

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

int main(int argc, char **argv)
{
	pthread_t setter, waiter;

	(void)argv;
	if (argc > 1)
		atomic_store(&started, 1);
	pthread_create(&setter, NULL, set_flag, NULL);
	atomic_store(&started, 1);
	pthread_create(&waiter, NULL, await_flag, NULL);
	pthread_join(setter, NULL);
	pthread_join(waiter, NULL);
	return 0;
}
