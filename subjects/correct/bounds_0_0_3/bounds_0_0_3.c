/* EXPECT: passed runs=300 needs=memory */
/* The twin of bounds_0_0_3: no thread changes the variable before its reader has ended. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_long a; /* two threads of the figure race for it */

static void *run_first(void *unused)
{
	assert(a != 2);
	return unused;
}

static void *run_second(void *unused)
{
	a++;
	return unused;
}

static void *run_third(void *unused)
{
	a++;
	return unused;
}

int main(void)
{
	pthread_t threads[3];

	pthread_create(&threads[0], NULL, run_first, NULL);
	pthread_join(threads[0], NULL);
	pthread_create(&threads[1], NULL, run_second, NULL);
	pthread_create(&threads[2], NULL, run_third, NULL);
	pthread_join(threads[1], NULL);
	pthread_join(threads[2], NULL);
	return 0;
}
