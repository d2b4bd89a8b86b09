/* EXPECT: abort runs<=2000 options=--memory-model=c11 needs=memory */
/*
 * A reference count with a relaxed decrement: the last owner frees the object, and misses what the
 * other owner wrote.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int references = 2;
static int uses[2];

static void drop(int own)
{
	uses[own] = 1;
	if (atomic_fetch_sub_explicit(&references, 1, memory_order_relaxed) == 1)
		assert(uses[0] + uses[1] == 2);
}

static void *first_owner(void *unused)
{
	drop(0);
	return unused;
}

static void *second_owner(void *unused)
{
	drop(1);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, first_owner, NULL);
	pthread_create(&threads[1], NULL, second_owner, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
