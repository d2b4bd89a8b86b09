/*
 * repairs mp|sb: bugs that need two stronger orders or fences, each access at a line of its own.
 * mp: a message is published and read without release and acquire. sb: both threads read before
 * the other's store is visible.
 */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

static atomic_int x, y;
static int results[2];

static void *mp_send(void *unused)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	atomic_store_explicit(&y, 1, memory_order_relaxed); /* MP STORE */
	return unused;
}

static void *mp_receive(void *unused)
{
	if (atomic_load_explicit(&y, memory_order_relaxed)) /* MP LOAD */
		assert(atomic_load_explicit(&x, memory_order_relaxed) == 1);
	return unused;
}

static void *sb_first(void *unused)
{
	atomic_store_explicit(&x, 1, memory_order_relaxed);
	results[0] = atomic_load_explicit(&y, memory_order_relaxed); /* SB FIRST LOAD */
	return unused;
}

static void *sb_second(void *unused)
{
	atomic_store_explicit(&y, 1, memory_order_relaxed);
	results[1] = atomic_load_explicit(&x, memory_order_relaxed); /* SB SECOND LOAD */
	return unused;
}

int main(int argc, char **argv)
{
	const int is_mp = argc < 2 || strcmp(argv[1], "mp") == 0;
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, is_mp ? mp_send : sb_first, NULL);
	pthread_create(&threads[1], NULL, is_mp ? mp_receive : sb_second, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	assert(is_mp || results[0] || results[1]);
	return 0;
}
