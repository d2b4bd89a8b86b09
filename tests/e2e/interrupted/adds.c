/* Loses an addition among many steps, so that minimising the failing schedule takes longer than the time. */
#include <assert.h>
#include <pthread.h>

#define THREADS 3
#define ROUNDS 4000

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned sum, rounds[THREADS];

static void *add(void *argument)
{
	unsigned *round = argument, now;

	while (*round < ROUNDS) {
		pthread_mutex_lock(&lock);
		++*round;
		pthread_mutex_unlock(&lock);
	}
	pthread_mutex_lock(&lock);
	now = sum;
	pthread_mutex_unlock(&lock);
	pthread_mutex_lock(&lock);
	sum = now + 1;
	pthread_mutex_unlock(&lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];

	for (unsigned i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, add, &rounds[i]);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert(sum == THREADS);
	return 0;
}
