/* Processors and priorities. Threads of the target share one processor under control, so these
 * calls change nothing real: they check arguments, remember settings and report them. Priorities
 * affect scheduling only where the target has bound all its threads to one processor: elsewhere any
 * two threads may run in parallel. */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "base/hot_state.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/thread_ids.h"
#include "runtime/libc/world.h"

/* Threads beyond these report the process's settings. */
#define AFFINITY_THREADS_MAX 256
#define PAGE_BYTES 4096UL

struct thread_scheduling {
	bool has_processors;
	uint8_t policy;
	uint8_t priority;
	cpu_set_t processors;
	/* Creation attributes that differ from the real ones; or 0. */
	void *stack;
	size_t stack_bytes;
	size_t guard_bytes;
};

static struct thread_scheduling settings[AFFINITY_THREADS_MAX];
/* A thread has, or had, settings that differ from the process's. Most runs leave the table untouched. */
static HOT_STATE bool has_settings;
static HOT_STATE bool has_priorities; /* a thread has, or had, a real-time policy */

static struct thread_scheduling *affinity_settings_of(const struct engine_thread *thread)
{
	return thread->id.index < AFFINITY_THREADS_MAX ? &settings[thread->id.index] : NULL;
}

long call_gettid(const long arguments[6], uint64_t site)
{
	(void)arguments;
	(void)site;
	runtime.knows_its_id = true;
	engine_note_id_read();
	return engine_current()->kernel_id;
}

long call_sched_yield(const long arguments[6], uint64_t site)
{
	(void)arguments;
	runtime_yield(site);
	return 0;
}

INTERPOSED(pid_t, gettid, (void), (pid_t)ANSWER(gettid, 0));
INTERPOSED(int, sched_yield, (void), (int)ANSWER(sched_yield, 0));

/* Today's headers map the name to sched_yield; older binaries still call it. */
int old_pthread_yield(void) __asm__("pthread_yield");

INTERPOSED(int, old_pthread_yield, (void), (int)ANSWER(sched_yield, 0));

EXPORT void thrd_yield(void)
{
	ENTER();
	(void)ANSWER(sched_yield, 0);
}

unsigned int affinity_processor(void)
{
	const struct thread_scheduling *own = affinity_settings_of(engine_current());

	if (own && own->has_processors)
		for (unsigned int i = 0; i < CPU_SETSIZE; i++)
			if (CPU_ISSET(i, &own->processors))
				return i;
	return 0;
}

INTERPOSED(int, sched_getcpu, (void), (int)affinity_processor());

EXPORT int getcpu(unsigned int *processor, unsigned int *node)
{
	ENTER();
	if (processor)
		*processor = affinity_processor();
	if (node)
		*node = 0;
	return 0;
}

/* Returns 0 or a positive errno. */
static int affinity_get(const struct engine_thread *thread, size_t size, cpu_set_t *out)
{
	const struct thread_scheduling *own = affinity_settings_of(thread);
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

static bool affinity_threads_share_processor(void)
{
	const cpu_set_t *processors = NULL;

	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		const struct thread_scheduling *own = affinity_settings_of(engine_thread(i));

		if (engine_thread(i)->state != THREAD_ALIVE)
			continue;
		if (!own || !own->has_processors || CPU_COUNT(&own->processors) != 1 ||
			(processors && !CPU_EQUAL(processors, &own->processors)))
			return false;
		processors = &own->processors;
	}
	return processors != NULL;
}

/* Called after a change of a thread's policy, priority or processors. */
static void affinity_scheduling_follow(struct engine_thread *thread)
{
	bool has_priority = false;

	thread->priority =
		affinity_settings_of(thread) ? affinity_settings_of(thread)->priority : 0;
	if (!thread->priority && !has_priorities)
		return;
	has_priorities = true;
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		has_priority |=
			engine_thread(i)->state == THREAD_ALIVE && engine_thread(i)->priority;
	engine_follow_priorities(has_priority && affinity_threads_share_processor());
}

/* Sets the processors of a thread. Fails without a processor that the machine has. */
static int affinity_set(struct engine_thread *thread, size_t size, const cpu_set_t *wanted)
{
	struct thread_scheduling *own = affinity_settings_of(thread);
	cpu_set_t processors;
	long configured;

	runtime_dispatch_pause(); /* libc opens a file, and no thread may run in between */
	configured = sysconf(_SC_NPROCESSORS_CONF);
	runtime_dispatch_resume();
	CPU_ZERO(&processors);
	memcpy(&processors, wanted, size < sizeof processors ? size : sizeof processors);
	for (long i = configured; i < CPU_SETSIZE; i++)
		CPU_CLR((int)i, &processors);
	if (!CPU_COUNT(&processors))
		return EINVAL;
	if (own) {
		own->processors = processors;
		own->has_processors = has_settings = true;
	}
	affinity_scheduling_follow(thread);
	return 0;
}

EXPORT int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t *out)
{
	ENTER();
	const struct engine_thread *thread = engine_thread_by_handle(handle);

	return thread ? affinity_get(thread, size, out) : ESRCH;
}

EXPORT int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t *wanted)
{
	ENTER();
	struct engine_thread *thread = engine_thread_by_handle(handle);

	return thread ? affinity_set(thread, size, wanted) : ESRCH;
}

long call_sched_getaffinity(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	const struct thread_scheduling *own = thread ? affinity_settings_of(thread) : NULL;
	const size_t size = (size_t)(unsigned int)arguments[1];
	long bytes;

	(void)site;
	/* The kernel checks the arguments and returns the size of its mask. */
	bytes = platform_call(SYS_sched_getaffinity, thread ? 0 : arguments[0], size, arguments[2]);
	if (!platform_failed(bytes) && own && own->has_processors)
		memcpy((void *)arguments[2], &own->processors,
			(size_t)bytes < sizeof own->processors ? (size_t)bytes
							       : sizeof own->processors);
	return bytes;
}

long call_sched_setaffinity(const long arguments[6], uint64_t site)
{
	struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);

	(void)site;
	if (!thread)
		return target_call(SYS_sched_setaffinity, arguments[0], arguments[1], arguments[2]);
	if (arguments[1] && interpose_is_bad_pointer((const void *)arguments[2]))
		return -EFAULT;
	return -affinity_set(
		thread, (size_t)(unsigned int)arguments[1], (const cpu_set_t *)arguments[2]);
}

EXPORT int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *out)
{
	ENTER();
	long bytes = ANSWER(sched_getaffinity, pid, size, out);

	if (!platform_failed(bytes)) {
		memset((char *)out + bytes, 0, size - (size_t)bytes);
		bytes = 0;
	}
	return (int)interpose_result(bytes);
}

ANSWERED(int, sched_setaffinity, (pid_t pid, size_t size, const cpu_set_t *wanted),
	sched_setaffinity, pid, size, wanted);

/* Returns 0, EINVAL or EPERM. */
static int affinity_scheduling_check(int policy, int priority)
{
	long least = platform_call(SYS_sched_get_priority_min, policy);
	long most = platform_call(SYS_sched_get_priority_max, policy);

	if (platform_failed(least) || platform_failed(most) || priority < least || priority > most)
		return EINVAL;
	/* Real-time policies need privileges, as natively. */
	return priority > 0 && platform_call(SYS_geteuid) != 0 ? EPERM : 0;
}

static int affinity_scheduling_set(struct engine_thread *thread, int policy, int priority)
{
	struct thread_scheduling *own = affinity_settings_of(thread);
	int error = affinity_scheduling_check(policy, priority);

	if (!error && own) {
		own->policy = (uint8_t)policy;
		own->priority = (uint8_t)priority;
		has_settings = true;
		affinity_scheduling_follow(thread);
	}
	return error;
}

EXPORT int pthread_setschedparam(pthread_t handle, int policy, const struct sched_param *wanted)
{
	ENTER();
	struct engine_thread *thread = engine_thread_by_handle(handle);

	return thread ? affinity_scheduling_set(thread, policy, wanted->sched_priority) : ESRCH;
}

EXPORT int pthread_setschedprio(pthread_t handle, int priority)
{
	ENTER();
	int policy, old;
	struct engine_thread *thread = engine_thread_by_handle(handle);

	if (!thread)
		return ESRCH;
	affinity_get_scheduling(thread, &policy, &old);
	return affinity_scheduling_set(thread, policy, priority);
}

EXPORT int pthread_getschedparam(
	pthread_t handle, int *restrict policy, struct sched_param *restrict out)
{
	ENTER();
	const struct engine_thread *thread = engine_thread_by_handle(handle);

	if (!thread)
		return ESRCH;
	affinity_get_scheduling(thread, policy, &out->sched_priority);
	return 0;
}

void affinity_get_scheduling(const struct engine_thread *thread, int *policy, int *priority)
{
	const struct thread_scheduling *own = affinity_settings_of(thread);

	*policy = own ? own->policy : SCHED_OTHER;
	*priority = own ? own->priority : 0;
}

long affinity_set_scheduling(struct engine_thread *thread, int policy, int priority)
{
	return -affinity_scheduling_set(thread, policy, priority);
}

/* Reads policy and priority. Returns false if the thread inherits those of its creator. */
static bool affinity_attributes_schedule(
	const pthread_attr_t *attributes, int *policy, int *priority)
{
	struct sched_param parameters = {0};
	int inherits = PTHREAD_INHERIT_SCHED;

	(void)pthread_attr_getinheritsched(attributes, &inherits);
	(void)pthread_attr_getschedpolicy(attributes, policy);
	(void)pthread_attr_getschedparam(attributes, &parameters);
	*priority = parameters.sched_priority;
	return inherits == PTHREAD_EXPLICIT_SCHED;
}

int affinity_check(const pthread_attr_t *attributes)
{
	int policy, priority;

	if (!attributes || !affinity_attributes_schedule(attributes, &policy, &priority))
		return 0;
	return affinity_scheduling_check(policy, priority);
}

static void affinity_note_stack(struct thread_scheduling *own, const pthread_attr_t *attributes)
{
	size_t bytes = 0;
	void *stack = NULL;

	(void)pthread_attr_getguardsize(attributes, &own->guard_bytes);
	(void)pthread_attr_getstacksize(attributes, &own->stack_bytes);
	(void)pthread_attr_getstack(attributes, &stack, &bytes);
	/* If the caller gave no stack, getstack returns 0 minus the size. */
	if (stack && stack != (void *)(0 - bytes))
		own->stack = stack;
}

void affinity_inherit(struct engine_thread *thread, const pthread_attr_t *attributes)
{
	struct thread_scheduling *own = affinity_settings_of(thread);
	const struct thread_scheduling *creator = affinity_settings_of(engine_current());
	cpu_set_t processors, all;
	int policy, priority;

	priority_inherit(thread);
	if (!own || (!has_settings && !attributes))
		return;
	has_settings = true;
	*own = (struct thread_scheduling){0};
	if (creator) {
		*own = *creator;
		own->stack = NULL;
		own->stack_bytes = own->guard_bytes = 0;
	}
	affinity_scheduling_follow(thread);
	if (!attributes)
		return;
	affinity_note_stack(own, attributes);
	if (affinity_attributes_schedule(attributes, &policy, &priority)) {
		own->policy = (uint8_t)policy;
		own->priority = (uint8_t)priority;
		affinity_scheduling_follow(thread);
	}
	/* glibc returns all bits if no affinity was set. */
	memset(&all, 0xff, sizeof all);
	if (pthread_attr_getaffinity_np(attributes, sizeof processors, &processors) == 0 &&
		!CPU_EQUAL(&processors, &all))
		(void)affinity_set(thread, sizeof processors,
			&processors); /* fails without a processor of the machine: as the creator */
}

/* Returns the requested attributes, completed with the default ones. */
static struct thread_scheduling affinity_attributes_asked_for(const struct thread_scheduling *own)
{
	struct thread_scheduling asked = *own;
	pthread_attr_t attributes;

	if (asked.stack_bytes || pthread_getattr_default_np(&attributes) != 0)
		return asked;
	affinity_note_stack(&asked, &attributes);
	(void)pthread_attr_destroy(&attributes);
	return asked;
}

/* Shows a part of a pooled stack, with the requested size. */
static void affinity_attributes_show_stack(
	pthread_attr_t *attributes, const struct thread_scheduling *own)
{
	size_t bytes = 0;
	void *stack = NULL;

	(void)pthread_attr_getstack(attributes, &stack, &bytes);
	if (own->stack) {
		(void)pthread_attr_setstack(attributes, own->stack, own->stack_bytes);
		(void)pthread_attr_setguardsize(attributes, 0);
		return;
	}
	if (own->stack_bytes < bytes)
		(void)pthread_attr_setstack(
			attributes, (char *)stack + bytes - own->stack_bytes, own->stack_bytes);
	(void)pthread_attr_setguardsize(
		attributes, (own->guard_bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1));
}

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
	ENTER();
	int error = REAL(pthread_getattr_np)(handle, attributes);
	const struct engine_thread *thread = engine_thread_by_handle(handle);
	const struct thread_scheduling *own = thread ? affinity_settings_of(thread) : NULL;

	/* glibc asks for a kernel thread that has ended; all other values are set. */
	if (error == ESRCH && thread)
		error = 0;
	if (!error && own && thread->id.index != 0) {
		const struct thread_scheduling asked = affinity_attributes_asked_for(own);

		affinity_attributes_show_stack(attributes, &asked);
	}
	if (!error && thread)
		(void)pthread_attr_setdetachstate(attributes,
			thread->is_detached ? PTHREAD_CREATE_DETACHED : PTHREAD_CREATE_JOINABLE);
	return error;
}
