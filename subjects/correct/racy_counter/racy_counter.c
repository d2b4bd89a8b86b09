/* EXPECT: passed runs=2000 needs=memory */
/* The twin of racy_counter: each addition is one atomic update, so none is lost. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int counter;

static void *count(void *unused)
{
	for (int i = 0; i < 2; i++)
		atomic_fetch_add(&counter, 1);
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
