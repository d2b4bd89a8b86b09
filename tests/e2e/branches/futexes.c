/*
 * A thread that waits at a futex reads it first, in the kernel, and continues after its waker. The
 * marked condition depends on the schedule, the other one does not.
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
