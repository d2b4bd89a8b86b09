/*
 * repairs mp|sb|volatile: bugs that need two stronger orders or fences, each access at a line of its own.
 * mp: a message is published and read without release and acquire. sb: both threads read before
 * the other's store is visible. volatile: the same by variables that are not atomic.
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

static volatile int v, w;

static void *volatile_first(void *unused)
{
	v = 1;
	results[0] = w;
	return unused;
}

static void *volatile_second(void *unused)
{
	w = 1;
	results[1] = v;
	return unused;
}

int main(int argc, char **argv)
{
	static void *(*const functions[3][2])(void *) = {
		{mp_send, mp_receive}, {sb_first, sb_second}, {volatile_first, volatile_second}};
	const int test = argc < 2 || strcmp(argv[1], "mp") == 0 ? 0
			 : strcmp(argv[1], "sb") == 0		? 1
								: 2;
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, functions[test][i], NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert(!test || results[0] || results[1]);
	return 0;
}
