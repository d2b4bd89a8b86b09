/* EXPECT: passed runs=300 needs=memory */
/* The twin of bounds_2_2_2: what belongs together is under a lock. */
#include <assert.h>
#include <pthread.h>

static volatile long a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run_first(void *unused)
{
	pthread_mutex_lock(&lock);
	const long before = a;
	const long after = a;
	const long other = b;
	pthread_mutex_unlock(&lock);

	assert(before == after || other != 1);
	return unused;
}

static void *run_second(void *unused)
{
	pthread_mutex_lock(&lock);
	a = 1;
	b = 1;
	b = 0;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
