/* EXPECT: abort runs<=200 needs=memory */
/*
 * A flag that is tested first and set later. Fails: main.0 sees it clear; main.1 sees it clear,
 * too; both become owners.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static volatile int is_taken;
static atomic_int owners;

static void *take(void *unused)
{
	if (!is_taken) {
		is_taken = 1;
		atomic_fetch_add(&owners, 1);
	}
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
