/*
 * EXPECT-BRANCH: return atomic_load(&total) / atomic_load(&count); [bug]
 *
 * A mean is asked for while the numbers are reset: for a short time none is left.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int count = 4, total = 20;

static void *reset(void *unused)
{
	atomic_store(&total, 0);
	atomic_store(&count, 0);
	atomic_fetch_add(&total, 7);
	atomic_fetch_add(&count, 1);
	return unused;
}

__attribute__((noinline)) static int mean(void)
{
	return atomic_load(&total) / atomic_load(&count);
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, reset, NULL);
	printf("%d\n", mean());
	pthread_join(thread, NULL);
	return 0;
}
