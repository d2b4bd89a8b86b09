/* EXPECT: abort runs<=2000 needs=memory sizes=3,30,100 */
/*
 * N threads add to a sum, the last one under another lock. Fails: it reads the sum, another thread adds to it,
 * and the last one writes its own result. The more threads, the rarer they meet.
 */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t sum_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t other_lock = PTHREAD_MUTEX_INITIALIZER;
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
		pthread_create(&threads[i], NULL, add, i < N - 1 ? &sum_lock : &other_lock);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	assert(sum == N);
	return 0;
}
