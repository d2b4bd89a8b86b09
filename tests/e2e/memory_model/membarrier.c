/* Store buffering with an asymmetric fence: one thread has none, or a compiler barrier only, and the other one calls
 * membarrier(). Without an argument the other thread has a fence of its own instead, which does not suffice. */
#include <assert.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int x, y, seen_x = 1, seen_y = 1;
static int has_barrier;

static void *run_fast_path(void *unused)
{
	(void)unused;
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_signal_fence(memory_order_seq_cst); /* orders nothing between threads */
	seen_y = atomic_load_explicit(&y, memory_order_relaxed);
	return NULL;
}

static void *run_slow_path(void *unused)
{
	(void)unused;
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	if (has_barrier)
		assert(syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0);
	else
		atomic_thread_fence(memory_order_seq_cst);
	seen_x = atomic_load_explicit(&x, memory_order_relaxed);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	(void)argv;
	has_barrier = argc > 1;
	assert(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0);
	(void)pthread_create(&threads[0], NULL, run_fast_path, NULL);
	(void)pthread_create(&threads[1], NULL, run_slow_path, NULL);
	(void)pthread_join(threads[0], NULL);
	(void)pthread_join(threads[1], NULL);
	assert(seen_x || seen_y);
	return 0;
}
