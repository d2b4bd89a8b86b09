/*
 * futex_calls CALL [x]: the kernel accesses a word in a futex call of main, which accesses the word in no other way, while
 * another thread changes the word. With "x" the program fails in one of the orders.
 *   1  FUTEX_CMP_REQUEUE compares its word
 *   2  FUTEX_WAKE_OP changes its second word
 *   3  futex_waitv() compares its second word, and waits for the other thread, which wakes waiters after its store
 *   4  FUTEX_LOCK_PI takes a free word, or waits for its owner
 *   5  FUTEX_TRYLOCK_PI takes a free word
 *   6  as 4, but the other thread makes the same call
 *   7  the kernel clears the word when the other thread, made by clone(), ends; main reads the word once and waits
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

struct vector_entry {
	uint64_t value, word;
	uint32_t flags, reserved;
};

static int what;
static _Alignas(8) _Atomic int word;
static _Alignas(8) _Atomic int second;
static _Alignas(8) int is_late; /* another variable than the words */

static long futex(int command)
{
	return syscall(SYS_futex, &word, command | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
}

/* The first of two owners writes the variable last. */
static void own(int writes)
{
	is_late = writes;
	(void)futex(FUTEX_UNLOCK_PI);
}

static void *change(void *unused)
{
	int expected = 0;

	if (what == 1)
		atomic_store(&word, 1);
	if (what == 2)
		is_late = atomic_fetch_or(&second, 2) & 1;
	if (what == 3) {
		atomic_store(&second, 1);
		syscall(SYS_futex, &second, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
	if (what == 4 || what == 5) {
		if (atomic_compare_exchange_strong(&word, &expected, gettid()))
			own(0);
	} else if (what == 6 && futex(FUTEX_LOCK_PI) == 0) {
		own(0);
	}
	return unused;
}

static long wait_for_two(void)
{
	struct vector_entry entries[2] = {{0, (uintptr_t)&word, 2 | FUTEX_PRIVATE_FLAG, 0},
		{0, (uintptr_t)&second, 2 | FUTEX_PRIVATE_FLAG, 0}};

	return syscall(SYS_futex_waitv, entries, 2, 0, NULL, CLOCK_MONOTONIC);
}

static int begin(void *unused)
{
	(void)unused;
	return 0;
}

static void meet_end(void)
{
	static _Alignas(64) char stack[1 << 18];

	word = 1;
	if (clone(begin, stack + sizeof stack,
		    CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			    CLONE_SYSVSEM | CLONE_CHILD_CLEARTID,
		    NULL, NULL, NULL, &word) < 0)
		_exit(2);
	is_late = !atomic_load(&word);
	(void)syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL, NULL, 0);
}

int main(int argc, char **argv)
{
	pthread_t thread;

	what = argc > 1 ? atoi(argv[1]) : 1;
	if (what == 7) {
		meet_end();
		return argc > 2 && is_late;
	}
	pthread_create(&thread, NULL, change, NULL);
	if (what == 1)
		is_late =
			syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE_PRIVATE, 0, 0L, &second, 0) < 0;
	if (what == 2)
		syscall(SYS_futex, &word, FUTEX_WAKE_OP_PRIVATE, 0, 0L, &second,
			FUTEX_OP(FUTEX_OP_ADD, 1, FUTEX_OP_CMP_EQ, 0));
	if (what == 3)
		is_late = wait_for_two() < 0;
	if ((what == 4 || what == 6) && futex(FUTEX_LOCK_PI) == 0)
		own(1);
	if (what == 5 && futex(FUTEX_TRYLOCK_PI) == 0)
		own(1);
	pthread_join(thread, NULL);
	return argc > 2 && is_late;
}
