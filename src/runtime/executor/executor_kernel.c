/*
 * The kernel executor: every thread of the target is a real one, and a baton (one futex per thread)
 * decides which may run. Used for replay in a debugger, for programs that need real threads, and as
 * a cross-check of the fibers. All threads are pinned to one processor: passing the baton to
 * another costs ten times more.
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
#include "runtime/thread_stacks.h"

#ifndef PR_GET_TID_ADDRESS
#define PR_GET_TID_ADDRESS 40
#endif

struct kernel_part {
	uint32_t baton; /* futex: 1 when the thread may run */
	pthread_t real;
	const uint32_t *alive; /* futex that the kernel clears when the thread has ended */
	/* Serves handlers of fatal signals: the thread's own stack may be exhausted. */
	void *crash_stack;
	struct thread_stack stack; /* start NULL: the stack is glibc's own or the caller's */
	uint32_t size_class;
	uint32_t slot; /* of the class; THREAD_CAPACITY: none */
};

/* THREAD_CAPACITY entries. The holder of the baton writes both pointers. */
static struct kernel_part *kernel_parts;
/* The thread that gave up the baton to end; its kernel thread may still be ending. */
static struct kernel_part *kernel_leaving;

/* Stack slots, assigned in the fibers' order. Written by the holder of the baton. */
static struct kernel_slots {
	uint32_t given; /* distinct slots assigned so far */
	uint32_t free_count;
	uint16_t free[THREAD_CAPACITY]; /* returned slots, the latest last */
} kernel_slots[THREAD_STACK_CLASSES];

static struct kernel_part *executor_kernel_part(const struct engine_thread *thread)
{
	return &kernel_parts[thread->id.index];
}

static void executor_kernel_take_baton(struct kernel_part *part)
{
	/* Acquire: pairs with the release in executor_kernel_give_baton(). */
	while (!__atomic_load_n(&part->baton, __ATOMIC_ACQUIRE))
		platform_futex_wait(&part->baton, 0, UINT64_MAX, false);
	__atomic_store_n(&part->baton, 0, __ATOMIC_RELAXED);
	if (kernel_leaving) {
		const uint32_t *alive = kernel_leaving->alive;
		uint32_t value;

		/* The kernel may write to the ending thread's block until `alive` is 0. */
		while ((value = __atomic_load_n(alive, __ATOMIC_ACQUIRE)) != 0)
			platform_futex_wait(alive, value, UINT64_MAX, true);
		kernel_leaving = NULL;
	}
}

static void executor_kernel_give_baton(struct kernel_part *part)
{
	__atomic_store_n(&part->baton, 1, __ATOMIC_RELEASE); /* pairs with kernel_take_baton */
	platform_futex_wake(&part->baton, false);
}

#define FAULT(signal) (UINT64_C(1) << ((signal)-1))
/* Signals that a thread raises itself. All others arrive at main (signal.c). */
static const uint64_t kernel_faults = FAULT(SIGSYS) | FAULT(SIGSEGV) | FAULT(SIGBUS) |
				      FAULT(SIGFPE) | FAULT(SIGILL) | FAULT(SIGABRT) |
				      FAULT(SIGTRAP) | FAULT(SIGPIPE);

/* Writes a path such as "main.0.2", backwards from `end`; returns its start. */
static char *executor_kernel_write_path(const struct engine_thread *thread, char *end)
{
	unsigned number = thread->ordinal;

	if (!thread->id.index)
		return (char *)memcpy(end - 4, "main", 4);
	do {
		*--end = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	*--end = '.';
	return executor_kernel_write_path(engine_thread(thread->parent.index), end);
}

/* Names the kernel thread for debuggers, until the program sets a name. */
static void executor_kernel_name_thread(const struct engine_thread *thread)
{
	char path[4096] = "";

	if (runtime.contract && runtime.contract->plan.stop_for_debugger)
		(void)platform_call(SYS_prctl, PR_SET_NAME,
			executor_kernel_write_path(thread, path + sizeof path - 1));
}

static void *executor_kernel_thread_entry(void *argument)
{
	struct engine_thread *thread = argument;

	thread->handle = context_thread_base();
	thread->kernel_id = (int)platform_call(SYS_gettid);
	thread->context.thread_base = thread->handle;
	(void)platform_call(SYS_prctl, PR_GET_TID_ADDRESS, &executor_kernel_part(thread)->alive);
	executor_kernel_part(thread)->crash_stack = runtime_crash_stack(NULL);
	executor_kernel_name_thread(thread);
	(void)platform_call(SYS_rt_sigprocmask, SIG_UNBLOCK, &kernel_faults, NULL, 8);
	/* The creator waits for the handle. */
	executor_kernel_give_baton(&kernel_parts[THREAD_CAPACITY - 1]);
	executor_kernel_take_baton(executor_kernel_part(thread));
	if (runtime.has_dispatch)
		(void)runtime_dispatch_arm();
	thread_stack_enter_at(thread_stack_top(__builtin_frame_address(0)), thread);
	/* Other threads already run: calls of this thread must not count as theirs. */
	runtime_dispatch_disarm();
	/* The thread exits by system call. glibc's thread exit frees its heap caches, which fibers
	 * never do: later blocks would have different addresses under the two executors. */
	(void)platform_call(SYS_exit, 0);
	__builtin_trap();
}

/* Returns false if the attributes name a stack of the caller. */
static bool executor_kernel_wants_stack(const pthread_attr_t *attributes, size_t *size)
{
	void *stack = NULL;

	*size = thread_stack_standard_bytes();
	if (!attributes)
		return true;
	(void)pthread_attr_getstack(attributes, &stack, size);
	if (stack && stack != (void *)(0 - *size))
		return false;
	(void)pthread_attr_getstacksize(attributes, size);
	return true;
}

/* A thread on the caller's own stack uses a slot, too, as under fibers: both executors must assign
 * equal slots. */
static void executor_kernel_find_stack(struct kernel_part *part, bool is_wanted, size_t size)
{
	const uint32_t size_class = is_wanted ? thread_stack_class(size) : 0;
	struct kernel_slots *slots = &kernel_slots[size_class % THREAD_STACK_CLASSES];
	const uint32_t slot = slots->free_count ? slots->free[slots->free_count - 1] : slots->given;

	if (size_class == THREAD_STACK_CLASSES || slot == THREAD_CAPACITY ||
		(is_wanted && !thread_stack_map(&part->stack, size_class, slot) && size_class))
		return;
	part->size_class = size_class;
	part->slot = slot;
	if (slots->free_count)
		slots->free_count--;
	else
		slots->given++;
}

/* The real thread is always joinable for glibc: executor_kernel_reap() joins it. */
static int executor_kernel_real_attributes(
	struct kernel_part *part, const pthread_attr_t *attributes, pthread_attr_t *own)
{
	size_t size;
	size_t guard;
	const bool is_wanted = executor_kernel_wants_stack(attributes, &size);

	(void)pthread_attr_init(own);
	if (attributes) {
		(void)pthread_attr_getguardsize(attributes, &guard);
		(void)pthread_attr_setguardsize(own, guard);
	}
	executor_kernel_find_stack(part, is_wanted, size);
	if (part->stack.start)
		return pthread_attr_setstack(
			own, part->stack.start + part->stack.stack_bytes - size, size);
	if (!is_wanted) {
		void *stack;

		(void)pthread_attr_getstack(attributes, &stack, &size);
		return pthread_attr_setstack(own, stack, size);
	}
	return pthread_attr_setstacksize(own, size);
}

/* Called when the real thread has ended or was never created. */
static void executor_kernel_give_stack_back(struct kernel_part *part)
{
	if (part->stack.start)
		thread_stack_unmap(&part->stack);
	if (part->slot < THREAD_CAPACITY) {
		struct kernel_slots *slots = &kernel_slots[part->size_class];

		slots->free[slots->free_count++] = (uint16_t)part->slot;
	}
	part->stack = (struct thread_stack){0};
	part->slot = THREAD_CAPACITY;
}

static int executor_kernel_spawn(struct engine_thread *thread, const void *attributes)
{
	struct kernel_part *part;
	pthread_attr_t own;
	uint64_t all = ~UINT64_C(0);
	uint64_t old;
	int error;

	if (!kernel_parts)
		kernel_parts = platform_map(THREAD_CAPACITY * sizeof *kernel_parts, false);
	if (!kernel_parts)
		return EAGAIN;
	part = executor_kernel_part(thread);
	*part = (struct kernel_part){.slot = THREAD_CAPACITY};
	error = executor_kernel_real_attributes(part, attributes, &own);
	if (error) {
		executor_kernel_give_stack_back(part);
		return error;
	}
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &old, 8);
	runtime_dispatch_pause();
	if (part->stack.start)
		thread_stack_lend(&part->stack);
	error = REAL(pthread_create)(&part->real, &own, executor_kernel_thread_entry, thread);
	thread_stack_lend_end(&part->stack);
	runtime_dispatch_resume();
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, 8);
	(void)pthread_attr_destroy(&own);
	if (!error)
		executor_kernel_take_baton(&kernel_parts[THREAD_CAPACITY - 1]);
	else
		executor_kernel_give_stack_back(part);
	return error;
}

static void executor_kernel_transfer(struct engine_thread *from, struct engine_thread *to)
{
	executor_kernel_give_baton(executor_kernel_part(to));
	executor_kernel_take_baton(executor_kernel_part(from));
}

/* Keeps main's kernel thread, without which debuggers and /proc regard the process as dead. */
static void executor_kernel_finish(struct engine_thread *from, struct engine_thread *to)
{
	if (from->id.index != 0 && executor_kernel_part(from)->alive)
		kernel_leaving = executor_kernel_part(from);
	executor_kernel_give_baton(executor_kernel_part(to));
	if (from->id.index == 0)
		for (;;)
			(void)platform_call(SYS_pause);
}

static void executor_kernel_reap(struct engine_thread *thread)
{
	if (thread->id.index == 0)
		return;
	runtime_dispatch_pause();
	(void)REAL(pthread_join)(executor_kernel_part(thread)->real, NULL);
	runtime_dispatch_resume();
	runtime_crash_stack_free(executor_kernel_part(thread)->crash_stack);
	executor_kernel_give_stack_back(executor_kernel_part(thread));
}

const struct executor executor_kernel = {
	.name = "kernel",
	.spawn = executor_kernel_spawn,
	.transfer = executor_kernel_transfer,
	.finish = executor_kernel_finish,
	.reap = executor_kernel_reap,
};
