/* A thread samples every 5 ms until it is stopped. main takes the samples away before it stops the
 * thread, which needs a stall of main in between to fail. Both sleeps are periods, no synchronisation. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

static _Atomic(int *) samples;
static atomic_bool is_stopped;

static void *sample(void *unused)
{
	while (!atomic_load(&is_stopped)) {
		usleep(5000);
		if (!atomic_load(&is_stopped))
			++*atomic_load(&samples);
	}
	return unused;
}

int main(void)
{
	static int memory;
	pthread_t thread;

	atomic_store(&samples, &memory);
	pthread_create(&thread, NULL, sample, NULL);
	for (int i = 0; i < 7; i++)
		usleep(1000);
	atomic_store(&samples, NULL);
	atomic_store(&is_stopped, true);
	pthread_join(thread, NULL);
	return 0;
}
