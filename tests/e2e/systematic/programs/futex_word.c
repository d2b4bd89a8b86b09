/* A futex wait reads its word in the step in which it begins to wait: before the store, between the store and the wake-up,
 * or after both. With the argument "x" the waker forgets to wake, so the first order is a deadlock. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int word;

static void *wake(void *forgets)
{
	atomic_store(&word, 1);
	if (!forgets)
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	return NULL;
}

static void *wait_for_word(void *unused)
{
	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t waker, waiter;

	pthread_create(&waker, NULL, wake, argc > 2 ? argv : NULL);
	pthread_create(&waiter, NULL, wait_for_word, NULL);
	pthread_join(waker, NULL);
	pthread_join(waiter, NULL);
	return atomic_load(&word) != 1;
}
