/* A library (-DLIBRARY) whose atomic flag orders the accesses of the program. */
#ifdef LIBRARY
#include <sched.h>
#include <stdatomic.h>

static atomic_int is_ready;

void hand_over(void)
{
	atomic_store(&is_ready, 1);
}

void await(void)
{
	while (!atomic_load(&is_ready))
		sched_yield();
}
#else
#include <pthread.h>

void hand_over(void);
void await(void);

static int value;

static void *give(void *unused)
{
	value = 1;
	hand_over();
	return unused;
}

int main(void)
{
	pthread_t thread;
	int result;

	pthread_create(&thread, NULL, give, NULL);
	await();
	result = value;
	pthread_join(thread, NULL);
	return result != 1;
}
#endif
