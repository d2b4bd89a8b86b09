/* EXPECT: abort runs<=2000 options=--memory-model=c11 needs=memory */
/*
 * A seqlock whose reader has no fence before it checks the sequence again: the check may read an older
 * number than the data.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_uint sequence;
static atomic_int first, second;

static void *write_both(void *unused)
{
	for (int value = 1; value <= 2; value++) {
		const unsigned before = atomic_load_explicit(&sequence, memory_order_relaxed);

		atomic_store_explicit(&sequence, before + 1, memory_order_relaxed);
		atomic_thread_fence(memory_order_release);
		atomic_store_explicit(&first, value, memory_order_relaxed);
		atomic_store_explicit(&second, value, memory_order_relaxed);
		atomic_store_explicit(&sequence, before + 2, memory_order_release);
	}
	return unused;
}

static void *read_both(void *unused)
{
	unsigned before, after;
	int a, b;

	do {
		before = atomic_load_explicit(&sequence, memory_order_acquire);
		a = atomic_load_explicit(&first, memory_order_relaxed);
		b = atomic_load_explicit(&second, memory_order_relaxed);
		after = atomic_load_explicit(&sequence, memory_order_relaxed);
	} while (before != after || before % 2);
	assert(a == b);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, write_both, NULL);
	pthread_create(&threads[1], NULL, read_both, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	return 0;
}
