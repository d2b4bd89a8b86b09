/* Takes its lock once or twice by the processor's clock, which is not part of any run. */
#include <pthread.h>
#include <stdlib.h>
#include <x86intrin.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void step(void)
{
	pthread_mutex_lock(&lock);
	count++;
	pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
	for (int i = 0; i < 20; i++) {
		step();
		if (__rdtsc() % 7 == 0)
			step();
	}
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, work, NULL))
			abort();
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
