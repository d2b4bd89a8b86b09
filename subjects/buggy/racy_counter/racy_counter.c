/* EXPECT: abort runs<=200 needs=memory */
/*
 * A counter without a lock. Fails: main reads counter; main.0 reads the same value and adds to it;
 * main writes its old value plus one, and the other's addition is lost.
 *
 * EXPECT-BRANCH: assert(counter == 4); [bug]
 */
#include <assert.h>
#include <pthread.h>

static volatile int counter;

static void *count(void *unused)
{
	for (int i = 0; i < 2; i++)
		counter = counter + 1;
	return unused;
}

int main(void)
{
	pthread_t other;

	pthread_create(&other, NULL, count, NULL);
	count(NULL);
	pthread_join(other, NULL);
	assert(counter == 4);
	return 0;
}
