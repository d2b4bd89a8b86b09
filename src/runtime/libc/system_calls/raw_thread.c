#include "runtime/libc/raw_thread.h"

#include <asm/prctl.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>

#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"

/* Code may use a red zone below the new thread's stack pointer. */
#define RED_ZONE_BYTES 256
/* glibc's minimum for a stack, whose lower end is not used. */
#define STACK_BYTES 65536

/* Arguments of clone and clone3 in one form. */
struct raw_thread_call {
	uint64_t flags;
	uintptr_t stack; /* upper end; 0: the creator's stack */
	uintptr_t thread_base;
	int *parent_id, *child_id;
};

/* Lies on the new thread's stack below its first frame, until the thread begins. */
struct raw_thread_start {
	greg_t registers[NGREG];
	uintptr_t stack;
};

static struct raw_thread_call raw_thread_read(long number, const long arguments[6])
{
	const struct clone_args *in_memory = (const struct clone_args *)arguments[0];

	if (number == SYS_clone)
		return (struct raw_thread_call){.flags = (uint64_t)arguments[0],
			.stack = (uintptr_t)arguments[1],
			.parent_id = (int *)arguments[2],
			.child_id = (int *)arguments[3],
			.thread_base = (uintptr_t)arguments[4]};
	return (struct raw_thread_call){.flags = in_memory->flags,
		.stack = in_memory->stack ? in_memory->stack + in_memory->stack_size : 0,
		.parent_id = (int *)in_memory->parent_tid,
		.child_id = (int *)in_memory->child_tid,
		.thread_base = in_memory->tls};
}

/* Start function of every raw thread, which also identifies raw threads. */
static void *raw_thread_begin(void *argument)
{
	const struct raw_thread_start *start = argument;

	platform_thread_begin(start->registers, start->stack);
}

static bool raw_thread_is_current(void)
{
	return engine_current()->start == raw_thread_begin;
}

bool raw_thread_run(struct engine_thread *thread)
{
	if (thread->start == raw_thread_begin)
		thread->start(thread->argument);
	return false;
}

long raw_thread_create(long number, const long arguments[6], const greg_t *registers)
{
	const struct raw_thread_call call = raw_thread_read(number, arguments);
	const uint64_t site = (uint64_t)registers[REG_RIP];
	struct raw_thread_start *start;
	struct engine_thread *thread;
	pthread_attr_t attributes;
	int error;

	if (!call.stack)
		return -EINVAL;
	start = (struct raw_thread_start *)((call.stack - RED_ZONE_BYTES - sizeof *start) &
					    ~(uintptr_t)63);
	memcpy(start->registers, registers, sizeof start->registers);
	start->stack = call.stack;
	engine_point(OP_THREAD_CREATE, NULL, site);
	(void)pthread_attr_init(&attributes); /* neither this nor the next call can fail in glibc */
	(void)pthread_attr_setstack(&attributes, (char *)start - STACK_BYTES, STACK_BYTES);
	error = engine_thread_create(&thread, raw_thread_begin, start, &attributes, site);
	(void)pthread_attr_destroy(&attributes);
	if (error)
		return -error;
	thread->is_detached = true;
	if (call.flags & CLONE_SETTLS)
		engine_thread_set_base(thread, call.thread_base);
	else
		thread->context.thread_base = context_thread_base();
	if (call.flags & CLONE_CHILD_CLEARTID)
		thread->clear_at_end = (uint32_t *)call.child_id;
	if (call.flags & CLONE_PARENT_SETTID)
		*call.parent_id = thread->kernel_id;
	if (call.flags & CLONE_CHILD_SETTID)
		*call.child_id = thread->kernel_id;
	if (runtime.contract)
		runtime.contract->thread_count = engine_thread_count();
	error = thread->kernel_id;
	engine_point(OP_THREAD_CREATED, NULL, site);
	return error;
}

bool raw_thread_is_wanted(long number, const long arguments[6])
{
	return (number == SYS_clone || number == SYS_clone3) &&
	       raw_thread_read(number, arguments).flags & CLONE_THREAD;
}

/* Ends only the caller. A fiber must not make the real call: one kernel thread carries all. */
long call_exit(const long arguments[6], uint64_t site)
{
	(void)arguments, (void)site;
	if (engine_is_live())
		engine_thread_finish(); /* a fiber ends here, a kernel thread ends in the kernel */
	return CALL_OF_KERNEL;
}

long call_set_tid_address(const long arguments[6], uint64_t site)
{
	struct engine_thread *self = engine_current();

	(void)site;
	if (!raw_thread_is_current())
		return CALL_OF_KERNEL;
	self->clear_at_end = (uint32_t *)arguments[0];
	return self->kernel_id;
}

/* The call is emulated, because the kernel needs no list. */
long call_set_robust_list(const long arguments[6], uint64_t site)
{
	(void)arguments, (void)site;
	return raw_thread_is_current() ? 0 : CALL_OF_KERNEL;
}

/* Processors are virtual. The call must succeed: glibc treats a failure as an error. */
long call_rseq(const long arguments[6], uint64_t site)
{
	(void)arguments, (void)site;
	return raw_thread_is_current() ? 0 : CALL_OF_KERNEL;
}

long call_arch_prctl(const long arguments[6], uint64_t site)
{
	(void)site;
	if (!raw_thread_is_current() || arguments[0] != ARCH_SET_FS)
		return CALL_OF_KERNEL;
	engine_thread_set_base(engine_current(), (uintptr_t)arguments[1]);
	context_set_thread_base((uintptr_t)arguments[1]);
	return 0;
}

/* Returns whether an entry of /proc/self/task is neither the caller nor a donor of a fiber
 * stack. */
static bool raw_thread_is_listed(const char *at, const char *end)
{
	const int own_id = (int)platform_call(SYS_gettid);

	while (at < end) {
		const struct dirent64 *entry = (const struct dirent64 *)at;
		int id = 0;

		for (const char *digit = entry->d_name; *digit >= '0' && *digit <= '9'; digit++)
			id = id * 10 + (*digit - '0');
		if (id && id != own_id && !fiber_is_donor(id))
			return true;
		at += entry->d_reclen;
	}
	return false;
}

/* Returns whether the process has threads outside of control. False also if /proc is not
 * mounted. */
static bool raw_thread_has_others(void)
{
	_Alignas(uint64_t) char list[4096];
	bool has_others = false;
	long folder, bytes;

	/* Changes nothing if the thread is alone, and fails otherwise. Some containers forbid it. */
	if (platform_call(SYS_unshare, CLONE_THREAD) == 0)
		return false;
	folder = platform_call(
		SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (platform_failed(folder))
		return false;
	while (!has_others &&
		(bytes = platform_call(SYS_getdents64, folder, list, sizeof list)) > 0)
		has_others = raw_thread_is_listed(list, list + bytes);
	(void)platform_call(SYS_close, folder);
	return has_others;
}

void raw_thread_check_start(void)
{
	if (!runtime.contract || runtime.is_forked_child || !raw_thread_has_others())
		return;
	if (runtime.restart != &restart_exec)
		runtime_refuse_restart(
			"a thread was created without pthread_create before the first other one, so the process cannot be copied");
	runtime.contract->unseen |= UNSEEN_THREAD;
}

void raw_thread_check_end(void)
{
	if (!runtime.has_dispatch && runtime.executor == &executor_fiber &&
		!(runtime.contract->unseen & UNSEEN_THREAD) && raw_thread_has_others())
		runtime.contract->unseen |= UNSEEN_THREAD;
}

void raw_thread_check_caller(void)
{
	if (context_thread_base() != engine_current()->context.thread_base)
		raw_thread_refuse();
}

void raw_thread_refuse(void)
{
	if (!runtime.contract || runtime.is_forked_child)
		return;
	runtime_refuse(
		"a thread created without pthread_create (raw clone) uses scheduled objects, and cannot be controlled without trapped system calls; leave --no-dispatch out (Linux 5.11)");
}
