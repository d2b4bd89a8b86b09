/*
 * The litmus test of store buffers: each thread writes its own variable and reads the other's. Both
 * read 0 only if a write may become visible later than a read behind it, as on x86: the last branch
 * is sensitive with --store-buffers alone. FENCE puts a fence in between, and
 * STORE_ORDER=memory_order_seq_cst makes the write wait: the branch is not sensitive then.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#ifndef STORE_ORDER
#define STORE_ORDER memory_order_relaxed
#endif
#ifdef FENCE
#define fence() atomic_thread_fence(memory_order_seq_cst)
#else
#define fence()
#endif

static atomic_int left, right;
static int seen_left, seen_right;

static void *write_left(void *unused)
{
	atomic_store_explicit(&left, 1, STORE_ORDER);
	fence();
	seen_right = atomic_load_explicit(&right, memory_order_relaxed);
	return unused;
}

static void *write_right(void *unused)
{
	atomic_store_explicit(&right, 1, STORE_ORDER);
	fence();
	seen_left = atomic_load_explicit(&left, memory_order_relaxed);
	return unused;
}

int main(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, write_left, NULL);
	pthread_create(&threads[1], NULL, write_right, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	if ((seen_left | seen_right) == 0)
		puts("both were late");
	return 0;
}
