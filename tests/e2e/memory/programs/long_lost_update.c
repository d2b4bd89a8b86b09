/* Each thread makes some 10^4 accesses under locks, and a few lost updates without one. Thousands of preemptions are found, of
 * which one suffices. */
#include <assert.h>
#include <pthread.h>

#define STEPS 2000
#define THREADS 3

static struct {
	pthread_mutex_t lock;
	long values[8];
} buckets[16];
static long total;

static void *work(void *argument)
{
	unsigned random = (unsigned)(long)argument;

	for (int i = 0; i < STEPS; i++) {
		random = random * 1664525u + 1013904223u;
		pthread_mutex_lock(&buckets[random >> 28].lock);
		buckets[random >> 28].values[random >> 8 & 7]++;
		pthread_mutex_unlock(&buckets[random >> 28].lock);
		if (i % 250 == 7)
			total++;
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < 16; i++)
		pthread_mutex_init(&buckets[i].lock, NULL);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(total == THREADS * STEPS / 250);
	return 0;
}
