/* EXPECT: passed runs=50 */
/*
 * Threads made past pthread_create, by clone(): with the thread-local block of their maker, so they use nothing of libc's
 * but plain system calls.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"

#define STACK_BYTES 65536
#define ROUNDS 3

static _Atomic uint32_t request, answer, thread_id;
static int seen_id;

static void wait_until(_Atomic uint32_t *word, uint32_t wanted)
{
	uint32_t found;

	while ((found = atomic_load(word)) != wanted)
		syscall(SYS_futex, word, FUTEX_WAIT, found, NULL, NULL, 0);
}

static void set(_Atomic uint32_t *word, uint32_t value)
{
	atomic_store(word, value);
	syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static int serve(void *unused)
{
	(void)unused;
	seen_id = (int)syscall(SYS_gettid);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		wait_until(&request, round);
		set(&answer, round);
	}
	return 0;
}

static void *nothing(void *unused)
{
	return unused;
}

static void check_clone(void)
{
	const int flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD |
			  CLONE_SYSVSEM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID;
	char *stack =
		mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int made_id;

	MUST(stack != MAP_FAILED);
	made_id = clone(serve, stack + STACK_BYTES, flags, NULL, &thread_id, NULL, &thread_id);
	CHECK(made_id > 0);
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		set(&request, round);
		wait_until(&answer, round);
	}
	wait_until(&thread_id, 0); /* the kernel clears it at the thread's end */
	CHECK(seen_id == made_id);
	CHECK(seen_id != getpid());
	MUST(munmap(stack, STACK_BYTES) == 0);
}

int main(void)
{
	pthread_t thread;

	check_clone(); /* before the first other thread */
	MUST(pthread_create(&thread, NULL, nothing, NULL) == 0);
	atomic_store(&request, 0);
	atomic_store(&answer, 0);
	check_clone();
	MUST(pthread_join(thread, NULL) == 0);
	return check_status();
}
