/* EXPECT: passed runs=2000 needs=memory */
/* The twin of racy_flag: looking and setting is one atomic exchange, so one thread sees it clear. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int is_taken;
static atomic_int owners;

static void *take(void *unused)
{
	if (!atomic_exchange(&is_taken, 1))
		atomic_fetch_add(&owners, 1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, take, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(owners == 1);
	return 0;
}
