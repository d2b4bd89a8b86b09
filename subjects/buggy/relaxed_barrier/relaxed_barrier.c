/* EXPECT: abort runs<=2000 options=--memory-model=c11 needs=memory */
/*
 * A barrier of two threads that counts by relaxed updates: a thread leaves it, and reads what the
 * other had before.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int arrived;
static int results[2];

static void meet(int own)
{
	results[own] = 1;
	atomic_fetch_add_explicit(&arrived, 1, memory_order_relaxed);
	while (atomic_load_explicit(&arrived, memory_order_acquire) != 2)
		;
	assert(results[1 - own] == 1);
}

static void *first_half(void *unused)
{
	meet(0);
	return unused;
}

static void *second_half(void *unused)
{
	meet(1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first_half, NULL);
	pthread_create(&threads[1], NULL, second_half, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
