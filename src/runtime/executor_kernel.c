/*
 * Kernel threads: every thread of the target is a real one; a baton (a futex per thread) says which may
 * move. For replay in a debugger, for programs that insist on real threads, and as a cross-check of the
 * fibers. All are pinned to one processor: handing the baton over across processors costs tenfold.
 *
 * Runs in the moving thread, which holds the baton.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

/* One per thread, in memory of our own. */
struct kernel_part {
	uint32_t baton; /* futex: 1 when the thread may move */
	pthread_t real;
	const uint32_t *alive; /* futex of the kernel: 0 when the thread is gone */
	void *crash_stack;     /* where fatal signals are handled: its own may be exhausted */
};

/* Written by the holder of the baton. */
static struct kernel_part *kernel_parts; /* THREAD_CAPACITY of them, mapped at the first creation */
static struct kernel_part *kernel_leaving; /* its thread still runs glibc's exit code */

static struct kernel_part *kernel_part(const struct engine_thread *thread)
{
	return &kernel_parts[thread->id.index];
}

static void kernel_take_baton(struct kernel_part *part)
{
	while (!__atomic_load_n(&part->baton, __ATOMIC_ACQUIRE)) /* pairs with kernel_give_baton */
		platform_futex_wait(&part->baton, 0, UINT64_MAX, false);
	__atomic_store_n(&part->baton, 0, __ATOMIC_RELAXED);
	if (kernel_leaving) {
		const uint32_t *alive = kernel_leaving->alive;
		uint32_t value;

		/* glibc's exit code uses the heap: nobody may move beside it. */
		while ((value = __atomic_load_n(alive, __ATOMIC_ACQUIRE)) != 0)
			platform_futex_wait(alive, value, UINT64_MAX, true);
		kernel_leaving = NULL;
	}
}

static void kernel_give_baton(struct kernel_part *part)
{
	__atomic_store_n(&part->baton, 1, __ATOMIC_RELEASE); /* pairs with kernel_take_baton */
	platform_futex_wake(&part->baton, 1, false);
}

#define FAULT(signal) (UINT64_C(1) << ((signal)-1))
/* What a thread brings upon itself; everything else comes through main (interpose_signal.c). */
static const uint64_t kernel_faults = FAULT(SIGSYS) | FAULT(SIGSEGV) | FAULT(SIGBUS) |
				      FAULT(SIGFPE) | FAULT(SIGILL) | FAULT(SIGABRT) |
				      FAULT(SIGTRAP) | FAULT(SIGPIPE);

/* Writes "main.0.2" and returns its end; the start is cut off where it is too long. */
static char *kernel_write_path(const struct engine_thread *thread, char *end)
{
	unsigned number = thread->ordinal;

	if (!thread->id.index)
		return (char *)memcpy(end - 4, "main", 4);
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	*--end = '.';
	return kernel_write_path(engine_thread(thread->parent.index), end);
}

/* Debuggers show threads by the names that reports have, until the program names them. */
static void kernel_name_thread(const struct engine_thread *thread)
{
	char path[4096] = "";

	if (runtime.contract && runtime.contract->plan.stop_for_debugger)
		(void)platform_call(
			SYS_prctl, PR_SET_NAME, kernel_write_path(thread, path + sizeof path - 1));
}

static void *kernel_thread_entry(void *argument)
{
	struct engine_thread *thread = argument;

	thread->handle = context_thread_base();
	thread->kernel_id = (int)platform_call(SYS_gettid);
	thread->context.thread_base = thread->handle;
	(void)platform_call(SYS_prctl, PR_GET_TID_ADDRESS, &kernel_part(thread)->alive);
	kernel_part(thread)->crash_stack = runtime_crash_stack(NULL);
	kernel_name_thread(thread);
	(void)platform_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &kernel_faults, NULL, 8);
	/* The creator waits for the handle. */
	kernel_give_baton(&kernel_parts[THREAD_CAPACITY - 1]);
	kernel_take_baton(kernel_part(thread));
	if (runtime.has_dispatch)
		(void)runtime_dispatch_arm();
	engine_thread_main(thread);
	/* Others move already: glibc's exit code must not be taken for theirs. */
	runtime_dispatch_disarm();
	return NULL;
}

/* Real threads are always joinable for glibc: their life is ours to end. */
static int kernel_real_attributes(const pthread_attr_t *attributes, pthread_attr_t *own)
{
	size_t size;
	size_t guard;
	void *stack = NULL;

	(void)pthread_attr_init(own); /* cannot fail in glibc */
	if (!attributes)
		return 0;
	(void)pthread_attr_getguardsize(attributes, &guard);
	(void)pthread_attr_setguardsize(own, guard);
	(void)pthread_attr_getstack(attributes, &stack, &size);
	if (stack && stack != (void *)(0 - size))
		return pthread_attr_setstack(own, stack, size);
	(void)pthread_attr_getstacksize(attributes, &size);
	return pthread_attr_setstacksize(own, size);
}

static int kernel_spawn(struct engine_thread *thread, const void *attributes)
{
	struct kernel_part *part;
	pthread_attr_t own;
	uint64_t all = ~UINT64_C(0);
	uint64_t old;
	int error = kernel_real_attributes(attributes, &own);

	if (!kernel_parts)
		kernel_parts = platform_map(THREAD_CAPACITY * sizeof *kernel_parts, false);
	if (!kernel_parts)
		return EAGAIN;
	part = kernel_part(thread);

	if (error)
		return error;
	*part = (struct kernel_part){0};
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
	runtime_dispatch_pause();
	error = REAL(pthread_create)(&part->real, &own, kernel_thread_entry, thread);
	runtime_dispatch_resume();
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8);
	(void)pthread_attr_destroy(&own);
	if (!error)
		kernel_take_baton(&kernel_parts[THREAD_CAPACITY - 1]);
	return error;
}

static void kernel_transfer(struct engine_thread *from, struct engine_thread *to)
{
	kernel_give_baton(kernel_part(to));
	kernel_take_baton(kernel_part(from));
}

/* Main must not leave: debuggers and /proc take the process for dead then. */
static void kernel_finish(struct engine_thread *from, struct engine_thread *to)
{
	if (from->id.index != 0 && kernel_part(from)->alive)
		kernel_leaving = kernel_part(from);
	kernel_give_baton(kernel_part(to));
	if (from->id.index == 0)
		for (;;)
			(void)platform_call(SYS_pause);
}

static void kernel_reap(struct engine_thread *thread)
{
	if (thread->id.index == 0)
		return;
	runtime_dispatch_pause();
	(void)REAL(pthread_join)(kernel_part(thread)->real, NULL); /* it has left or is leaving */
	runtime_dispatch_resume();
	runtime_crash_stack_free(kernel_part(thread)->crash_stack);
}

const struct executor executor_kernel = {
	.name = "kernel",
	.spawn = kernel_spawn,
	.transfer = kernel_transfer,
	.finish = kernel_finish,
	.reap = kernel_reap,
};
