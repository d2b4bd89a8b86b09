/* EXPECT: passed runs=500 needs=memory sizes=3,10,50,100 */
/* The twin of reorder: both words are written, and read, under one lock. */
#include <assert.h>
#include <pthread.h>

static volatile int announced, committed;
static pthread_mutex_t both = PTHREAD_MUTEX_INITIALIZER;

static void *set_both(void *unused)
{
	pthread_mutex_lock(&both);
	announced = 1;
	committed = 1;
	pthread_mutex_unlock(&both);
	return unused;
}

static void *check(void *unused)
{
	pthread_mutex_lock(&both);
	const int is_announced = announced;
	const int is_committed = committed;
	pthread_mutex_unlock(&both);

	assert(is_announced == is_committed);
	return unused;
}

int main(void)
{
	pthread_t setters[N];
	pthread_t checker;

	for (int i = 0; i < N; i++)
		pthread_create(&setters[i], NULL, set_both, NULL);
	pthread_create(&checker, NULL, check, NULL);
	for (int i = 0; i < N; i++)
		pthread_join(setters[i], NULL);
	pthread_join(checker, NULL);
	return 0;
}
