/* EXPECT: passed runs=500 needs=memory sizes=2,20,50,100 */
/* The twin of two_stage: the first lock is kept until the second word is written. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *write_both(void *unused)
{
	pthread_mutex_lock(&first_lock);
	first = 1;
	pthread_mutex_lock(&second_lock);
	second = first + 1;
	pthread_mutex_unlock(&second_lock);
	pthread_mutex_unlock(&first_lock);
	return unused;
}

static void *read_both(void *unused)
{
	int a, b;

	pthread_mutex_lock(&first_lock);
	a = first;
	pthread_mutex_unlock(&first_lock);
	if (!a)
		return unused;
	pthread_mutex_lock(&second_lock);
	b = second;
	pthread_mutex_unlock(&second_lock);
	assert(b == a + 1);
	return unused;
}

int main(void)
{
	pthread_t threads[N];

	/* All but the last write. */
	for (int i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, i < N - 1 ? write_both : read_both, NULL);
	for (int i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
