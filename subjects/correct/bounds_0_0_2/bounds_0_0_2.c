/* EXPECT: passed runs=300 needs=memory */
/* The twin of bounds_0_0_2: no thread changes the variable before its reader has ended. */
#include <assert.h>
#include <pthread.h>

static volatile long a;

static void *run_first(void *unused)
{
	assert(a == 0);
	return unused;
}

static void *run_second(void *unused)
{
	a++;
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_join(threads[0], NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
