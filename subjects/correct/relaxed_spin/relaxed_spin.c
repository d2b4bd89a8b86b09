/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_spin: the lock is released by a release store. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int is_locked;
static int counter;

static void *count(void *unused)
{
	while (atomic_exchange_explicit(&is_locked, 1, memory_order_acquire))
		;
	counter++;
	atomic_store_explicit(&is_locked, 0, memory_order_release);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, count, NULL);
	pthread_create(&threads[1], NULL, count, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(counter == 2);
	return 0;
}
