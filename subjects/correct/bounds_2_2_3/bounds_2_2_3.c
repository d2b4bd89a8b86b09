/* EXPECT: passed runs=300 needs=memory */
/* The twin of bounds_2_2_3: what belongs together is under a lock. */
#include <assert.h>
#include <pthread.h>

static volatile long a, b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *run_first(void *unused)
{
	pthread_mutex_lock(&lock);
	const long before = a;
	const long after = a;
	const long other_before = b;
	const long other_after = b;
	pthread_mutex_unlock(&lock);

	assert(before == after || other_before == other_after);
	return unused;
}

static void *run_second(void *unused)
{
	pthread_mutex_lock(&lock);
	a++;
	pthread_mutex_unlock(&lock);
	return unused;
}

static void *run_third(void *unused)
{
	pthread_mutex_lock(&lock);
	b++;
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	pthread_create(&threads[2], NULL, run_third, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
