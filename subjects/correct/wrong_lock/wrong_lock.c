/* EXPECT: passed runs=300 needs=memory sizes=3,30,100 */
/* The twin of wrong_lock: all threads use one lock. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *add(void *lock)
{
	pthread_mutex_lock(lock);
	sum++;
	pthread_mutex_unlock(lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[N];

	for (int i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, add, &sum_lock);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	assert(sum == N);
	return 0;
}
