/* EXPECT: passed runs=2000 options=--memory-model=c11 needs=memory */
/* The twin of relaxed_ticket: the lock is released by a release store. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint next_ticket, served;
static int counter;

static void *count(void *unused)
{
	const unsigned ticket = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);

	while (atomic_load_explicit(&served, memory_order_acquire) != ticket)
		;
	counter++;
	atomic_store_explicit(&served, ticket + 1, memory_order_release);
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
