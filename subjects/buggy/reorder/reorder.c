/* EXPECT: abort runs<=20000 needs=memory sizes=3,10,50,100 */
/*
 * N threads that set two words, and one that checks them. Fails: the first setters write announced; the
 * checker reads both before any of them writes committed. The more setters, the more must wait.
 */
#include <assert.h>
#include <pthread.h>

static volatile int announced, committed;

static void *set_both(void *unused)
{
	announced = 1;
	committed = 1;
	return unused;
}

static void *check(void *unused)
{
	const int is_announced = announced;
	const int is_committed = committed;

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
