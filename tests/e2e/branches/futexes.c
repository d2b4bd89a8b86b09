/*
 * Who waits at a futex looks at it first, in the kernel, and goes on behind who wakes it: the condition that is marked depends on
 * the schedule, and the other one does not.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_int word = 1;
static volatile int seen;

static void *set(void *unused)
{
	atomic_store(&word, 2);
	(void)syscall(SYS_futex, &word, FUTEX_WAKE, 1, NULL, NULL, 0);
	return unused;
}

static void wait(void)
{
	(void)syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
	if (atomic_load(&word) == 1)
		seen++;
}

int main(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, set, NULL))
		return 1;
	if (atomic_load(&word) == 1) /* sensitive */
		wait();
	(void)pthread_join(thread, NULL);
	return seen;
}
