/*
 * futex_pair 1 [x]: FUTEX_CMP_REQUEUE compares its word with 0 before or after another thread stores 1.
 * futex_pair 2 [x]: FUTEX_WAKE_OP adds 1 to its second word before or after another thread changes it.
 * With "x" the program fails in the second order.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Atomic int word, second;
static _Alignas(8) int is_late; /* another variable than the words */

static void *store(void *unused)
{
	atomic_store(&word, 1);
	return unused;
}

static void *change(void *unused)
{
	is_late = atomic_fetch_or(&second, 2) & 1;
	return unused;
}

int main(int argc, char **argv)
{
	const int what = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread;

	pthread_create(&thread, NULL, what == 1 ? store : change, NULL);
	if (what == 1)
		is_late =
			syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0L, &second, 0) < 0;
	else
		syscall(SYS_futex, &word, FUTEX_WAKE_OP_PRIVATE, 0, 0L, &second,
			FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
	pthread_join(thread, NULL);
	/* Without this access of main, raddle would not see that two threads use the word. */
	if (atomic_load(what == 1 ? &word : &second) != (what == 1 ? 1 : 3))
		return 2;
	return argc > 2 && is_late;
}
