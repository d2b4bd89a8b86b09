/*
 * Processors and priorities. Threads of the target share one processor under control, so these calls
 * change nothing real: they check their arguments, remember what was set and show it again.
 * Runs in the target's moving thread.
 */
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/world.h"

/* Threads beyond these show what the process has, whatever they set. */
#define AFFINITY_THREADS_MAX 256

struct thread_scheduling {
	bool has_processors;
	uint8_t policy;
	uint8_t priority;
	cpu_set_t processors;
};

/* Written by the calls below. */
static struct thread_scheduling settings[AFFINITY_THREADS_MAX];

static struct thread_scheduling *settings_of(const struct engine_thread *thread)
{
	return thread->id.index < AFFINITY_THREADS_MAX ? &settings[thread->id.index] : NULL;
}

static struct engine_thread *thread_of_kernel_id(pid_t kernel_id)
{
	if (!kernel_id || kernel_id == platform_call(SYS_gettid))
		return engine_current();
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		if (engine_thread(i)->state == THREAD_ALIVE &&
			engine_thread(i)->kernel_id == kernel_id)
			return engine_thread(i);
	return NULL;
}

/* ---- identity and yielding ---- */

EXPORT pid_t gettid(void)
{
	ENTER();
	return engine_current()->kernel_id;
}

static int yield(uint64_t site)
{
	if (world_is_plain())
		return (int)platform_call(SYS_sched_yield);
	runtime_yield(site);
	return 0;
}

EXPORT int sched_yield(void)
{
	ENTER();
	return yield(CALL_SITE);
}

/* Today's headers turn the name into sched_yield; older programs still carry it. */
int old_pthread_yield(void) __asm__("pthread_yield");

EXPORT int old_pthread_yield(void)
{
	ENTER();
	return yield(CALL_SITE);
}

EXPORT void thrd_yield(void)
{
	ENTER();
	(void)yield(CALL_SITE); /* cannot fail */
}

/* ---- processors ---- */

unsigned int affinity_processor(void)
{
	const struct thread_scheduling *own = settings_of(engine_current());

	if (own && own->has_processors)
		for (unsigned int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &own->processors))
				return i;
	return 0;
}

EXPORT int sched_getcpu(void)
{
	ENTER();
	return (int)affinity_processor();
}

EXPORT int getcpu(unsigned int *processor, unsigned int *node)
{
	ENTER();
	if (processor)
		*processor = affinity_processor();
	if (node)
		*node = 0;
	return 0;
}

/* 0 or a positive errno. */
static int affinity_get(const struct engine_thread *thread, size_t size, cpu_set_t *out)
{
	const struct thread_scheduling *own = settings_of(thread);
	long bytes;

	if (own && own->has_processors) {
		if (size < sizeof(unsigned long))
			return EINVAL;
		memset(out, 0, size);
		memcpy(out, &own->processors,
			size < sizeof own->processors ? size : sizeof own->processors);
		return 0;
	}
	bytes = platform_call(SYS_sched_getaffinity, 0, size, out);
	if (platform_failed(bytes))
		return (int)-bytes;
	memset((char *)out + bytes, 0, size - (size_t)bytes);
	return 0;
}

/* The kernel wants at least one processor that the machine has. */
static int affinity_set(const struct engine_thread *thread, size_t size, const cpu_set_t *wanted)
{
	struct thread_scheduling *own = settings_of(thread);
	cpu_set_t processors;
	long configured = sysconf(_SC_NPROCESSORS_CONF);

	CPU_ZERO(&processors);
	memcpy(&processors, wanted, size < sizeof processors ? size : sizeof processors);
	for (long i = configured; i < CPU_SETSIZE; i++)
		CPU_CLR((int)i, &processors);
	if (!CPU_COUNT(&processors))
		return EINVAL;
	if (own) {
		own->processors = processors;
		own->has_processors = true;
	}
	return 0;
}

EXPORT int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t *out)
{
	const struct engine_thread *thread;

	ENTER();
	thread = engine_thread_by_handle(handle);
	return thread ? affinity_get(thread, size, out) : ESRCH;
}

EXPORT int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t *wanted)
{
	const struct engine_thread *thread;

	ENTER();
	thread = engine_thread_by_handle(handle);
	return thread ? affinity_set(thread, size, wanted) : ESRCH;
}

EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out)
{
	const struct engine_thread *thread;
	long bytes;

	ENTER();
	thread = thread_of_kernel_id(pid);
	if (thread)
		return (int)interpose_result(-affinity_get(thread, size, out));
	bytes = platform_call(SYS_sched_getaffinity, pid, size, out);
	if (!platform_failed(bytes)) {
		memset((char *)out + bytes, 0, size - (size_t)bytes);
		bytes = 0;
	}
	return (int)interpose_result(bytes);
}

EXPORT int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *wanted)
{
	const struct engine_thread *thread;

	ENTER();
	thread = thread_of_kernel_id(pid);
	if (thread)
		return (int)interpose_result(-affinity_set(thread, size, wanted));
	return (int)interpose_result(target_call(SYS_sched_setaffinity, pid, size, wanted));
}

/* ---- priorities ---- */

static int scheduling_set(const struct engine_thread *thread, int policy, int priority)
{
	struct thread_scheduling *own = settings_of(thread);
	long least = platform_call(SYS_sched_get_priority_min, policy);
	long most = platform_call(SYS_sched_get_priority_max, policy);

	if (platform_failed(least) || platform_failed(most) || priority < least || priority > most)
		return EINVAL;
	/* Real-time policies are for the privileged, as natively. */
	if (priority > 0 && platform_call(SYS_geteuid) != 0)
		return EPERM;
	if (own) {
		own->policy = (uint8_t)policy;
		own->priority = (uint8_t)priority;
	}
	return 0;
}

EXPORT int pthread_setschedparam(pthread_t handle, int policy, const struct sched_param *wanted)
{
	const struct engine_thread *thread;

	ENTER();
	thread = engine_thread_by_handle(handle);
	return thread ? scheduling_set(thread, policy, wanted->sched_priority) : ESRCH;
}

EXPORT int pthread_setschedprio(pthread_t handle, int priority)
{
	const struct engine_thread *thread;
	const struct thread_scheduling *own;

	ENTER();
	thread = engine_thread_by_handle(handle);
	if (!thread)
		return ESRCH;
	own = settings_of(thread);
	return scheduling_set(thread, own ? own->policy : SCHED_OTHER, priority);
}

EXPORT int pthread_getschedparam(
	pthread_t handle, int *restrict policy, struct sched_param *restrict out)
{
	const struct engine_thread *thread;
	const struct thread_scheduling *own;

	ENTER();
	thread = engine_thread_by_handle(handle);
	if (!thread)
		return ESRCH;
	own = settings_of(thread);
	*policy = own ? own->policy : SCHED_OTHER;
	out->sched_priority = own ? own->priority : 0;
	return 0;
}

EXPORT int sched_setscheduler(pid_t pid, int policy, const struct sched_param *wanted)
{
	const struct engine_thread *thread;

	ENTER();
	thread = thread_of_kernel_id(pid);
	if (thread)
		return (int)interpose_result(-scheduling_set(
			thread, policy & ~SCHED_RESET_ON_FORK, wanted->sched_priority));
	return (int)interpose_result(target_call(SYS_sched_setscheduler, pid, policy, wanted));
}

EXPORT int sched_setparam(pid_t pid, const struct sched_param *wanted)
{
	const struct engine_thread *thread;
	const struct thread_scheduling *own;

	ENTER();
	thread = thread_of_kernel_id(pid);
	if (!thread)
		return (int)interpose_result(target_call(SYS_sched_setparam, pid, wanted));
	own = settings_of(thread);
	return (int)interpose_result(
		-scheduling_set(thread, own ? own->policy : SCHED_OTHER, wanted->sched_priority));
}

/* ---- what needs the thread's kernel thread, which is gone ---- */

EXPORT int pthread_getcpuclockid(pthread_t handle, clockid_t *clock)
{
	ENTER();
	if (!engine_thread_by_handle(handle))
		return ESRCH;
	*clock = CLOCK_THREAD_CPUTIME_ID;
	return 0;
}

EXPORT int pthread_getattr_np(pthread_t handle, pthread_attr_t *attributes)
{
	int error;

	ENTER();
	error = REAL(pthread_getattr_np)(handle, attributes);
	/* Everything is filled in but the processors, which it asked of a kernel thread that left. */
	return error == ESRCH && engine_thread_by_handle(handle) ? 0 : error;
}
