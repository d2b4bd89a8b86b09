/* Threads that wait in loops: on a flag, on two flags, for a lock of their own, with a try. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static volatile int flag;
static atomic_int first, second, lock, turn;
static int guarded;

static void own_lock(void)
{
	int expected = 0;

	while (!atomic_compare_exchange_strong(&lock, &expected, 1))
		expected = 0;
}

static void *wait_for_flag(void *unused)
{
	while (!flag)
		continue;
	return unused;
}

static void *wait_for_both(void *unused)
{
	while (!atomic_load(&first) || !atomic_load(&second))
		continue;
	return unused;
}

static void *take_lock(void *unused)
{
	for (int i = 0; i < 3; i++) {
		own_lock();
		guarded++;
		atomic_store(&lock, 0);
	}
	return unused;
}

static void *wait_for_turn(void *unused)
{
	while (atomic_exchange(&turn, 2) != 1)
		continue;
	return unused;
}

int main(void)
{
	static void *(*const loops[])(void *) = {
		wait_for_flag, wait_for_both, take_lock, take_lock, wait_for_turn};
	pthread_t threads[5];

	for (int i = 0; i < 5; i++)
		pthread_create(&threads[i], NULL, loops[i], NULL);
	atomic_store(&first, 1);
	flag = 1;
	atomic_store(&second, 1);
	atomic_store(&turn, 1);
	for (int i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	if (guarded != 6)
		abort();
	return 0;
}
