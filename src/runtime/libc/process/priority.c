/* Nice values, scheduling attributes, priorities of input and output. One kernel thread carries all
 * threads, so nothing real changes: the calls check as the kernel does, remember settings and
 * report them. */
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hot_state.h"
#include "runtime/interpose.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/thread_ids.h"
#include "runtime/libc/world.h"

/* Threads beyond these report the process's priorities. */
#define PRIORITY_THREADS_MAX 256

/* The system call returns this minus the nice value: negative results are errors. */
#define NICE_ZERO 20
#define NICE_LEAST (-20)
#define NICE_MOST 19

struct thread_priority {
	bool has_nice, has_io;
	int8_t nice;
	uint16_t io;
};

static struct thread_priority priorities[PRIORITY_THREADS_MAX];
/* A thread has, or had, a priority of its own. Most runs leave the table untouched. */
static HOT_STATE bool has_priorities;

static struct thread_priority *priority_of(const struct engine_thread *thread)
{
	return thread->id.index < PRIORITY_THREADS_MAX ? &priorities[thread->id.index] : NULL;
}

void priority_inherit(const struct engine_thread *thread)
{
	struct thread_priority *own = priority_of(thread);
	const struct thread_priority *creator = priority_of(engine_current());

	if (own && has_priorities)
		*own = creator ? *creator : (struct thread_priority){0};
}

static bool priority_has_capability(unsigned int capability)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = {0};

	return !platform_failed(platform_call(SYS_capget, &header, sets)) &&
	       sets[capability / 32].effective >> capability % 32 & 1;
}

static int priority_nice_get(const struct engine_thread *thread)
{
	const struct thread_priority *own = priority_of(thread);

	if (own && own->has_nice)
		return own->nice;
	return NICE_ZERO - (int)platform_call(SYS_getpriority, PRIO_PROCESS, 0);
}

/* Returns 0 or -EACCES: a value beyond RLIMIT_NICE needs CAP_SYS_NICE. */
static long priority_nice_set(const struct engine_thread *thread, int nice)
{
	struct thread_priority *own = priority_of(thread);
	struct rlimit limit = {0};

	if (nice < NICE_LEAST)
		nice = NICE_LEAST;
	if (nice > NICE_MOST)
		nice = NICE_MOST;
	(void)platform_call(SYS_prlimit64, 0, RLIMIT_NICE, NULL, &limit);
	if (nice < priority_nice_get(thread) && (rlim_t)(NICE_ZERO - nice) > limit.rlim_cur &&
		!priority_has_capability(CAP_SYS_NICE))
		return -EACCES;
	if (own) {
		own->nice = (int8_t)nice;
		own->has_nice = has_priorities = true;
	}
	return 0;
}

long call_getpriority(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread =
		arguments[0] == PRIO_PROCESS ? thread_of_id_or_self((pid_t)arguments[1]) : NULL;

	(void)site;
	return thread ? NICE_ZERO - priority_nice_get(thread)
		      : platform_call(SYS_getpriority, arguments[0], arguments[1]);
}

long call_setpriority(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread =
		arguments[0] == PRIO_PROCESS ? thread_of_id_or_self((pid_t)arguments[1]) : NULL;

	(void)site;
	return thread ? priority_nice_set(thread, (int)arguments[2])
		      : target_call(SYS_setpriority, arguments[0], arguments[1], arguments[2]);
}

EXPORT int getpriority(__priority_which_t which, id_t who)
{
	ENTER();
	long result = ANSWER(getpriority, which, who);

	return (int)interpose_result(platform_failed(result) ? result : NICE_ZERO) < 0
		       ? -1
		       : NICE_ZERO - (int)result;
}

ANSWERED(int, setpriority, (__priority_which_t which, id_t who, int value), setpriority, which, who,
	value);

EXPORT int nice(int increment)
{
	ENTER();
	const struct engine_thread *self = engine_current();
	long result = priority_nice_set(self, priority_nice_get(self) + increment);

	if (result)
		return (int)interpose_result(-EPERM); /* POSIX's error for this function */
	return priority_nice_get(self);
}

long call_sched_setscheduler(const long arguments[6], uint64_t site)
{
	struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	const struct sched_param *wanted = (const struct sched_param *)arguments[2];

	(void)site;
	if ((pid_t)arguments[0] < 0 || (int)arguments[1] < 0 || !wanted)
		return -EINVAL;
	if (thread)
		return affinity_set_scheduling(
			thread, (int)arguments[1] & ~SCHED_RESET_ON_FORK, wanted->sched_priority);
	return target_call(SYS_sched_setscheduler, arguments[0], arguments[1], arguments[2]);
}

long call_sched_setparam(const long arguments[6], uint64_t site)
{
	struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	const struct sched_param *wanted = (const struct sched_param *)arguments[1];
	int policy, priority;

	(void)site;
	if ((pid_t)arguments[0] < 0 || !wanted)
		return -EINVAL;
	if (!thread)
		return target_call(SYS_sched_setparam, arguments[0], wanted);
	affinity_get_scheduling(thread, &policy, &priority);
	return affinity_set_scheduling(thread, policy, wanted->sched_priority);
}

long call_sched_getscheduler(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	int policy, priority;

	(void)site;
	if ((pid_t)arguments[0] < 0)
		return -EINVAL;
	if (!thread)
		return platform_call(SYS_sched_getscheduler, arguments[0]);
	affinity_get_scheduling(thread, &policy, &priority);
	return policy;
}

long call_sched_getparam(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	struct sched_param *out = (struct sched_param *)arguments[1];
	int policy, priority;

	(void)site;
	if ((pid_t)arguments[0] < 0 || !out)
		return -EINVAL;
	if (!thread)
		return platform_call(SYS_sched_getparam, arguments[0], out);
	affinity_get_scheduling(thread, &policy, &priority);
	out->sched_priority = priority;
	return 0;
}

ANSWERED(int, sched_setscheduler, (pid_t pid, int policy, const struct sched_param *wanted),
	sched_setscheduler, pid, policy, wanted);
ANSWERED(int, sched_setparam, (pid_t pid, const struct sched_param *wanted), sched_setparam, pid,
	wanted);
ANSWERED(int, sched_getscheduler, (pid_t pid), sched_getscheduler, pid);
ANSWERED(int, sched_getparam, (pid_t pid, struct sched_param *out), sched_getparam, pid, out);

/* struct sched_attr, which older headers do not have. */
struct scheduling_attributes {
	uint32_t size;
	uint32_t policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
	uint32_t least_use, most_use;
};

#define FIRST_VERSION_BYTES 48
#define POLICY_DEADLINE 6
#define FLAG_KEEP_POLICY UINT64_C(8)
#define FLAG_KEEP_PARAMETERS UINT64_C(16)
#define KNOWN_FLAGS UINT64_C(127)

static long priority_attributes_copy(
	struct scheduling_attributes *from, struct scheduling_attributes *to)
{
	uint32_t bytes = from->size ? from->size : FIRST_VERSION_BYTES;

	if (bytes < FIRST_VERSION_BYTES || bytes > sizeof *to) {
		from->size = sizeof *to;
		return -E2BIG;
	}
	memset(to, 0, sizeof *to);
	memcpy(to, from, bytes);
	return to->flags & ~KNOWN_FLAGS ? -EINVAL : 0;
}

long call_sched_setattr(const long arguments[6], uint64_t site)
{
	struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	struct scheduling_attributes wanted;
	int policy, priority;
	long result;

	(void)site;
	if ((pid_t)arguments[0] < 0 || arguments[2] || !arguments[1])
		return -EINVAL;
	if (!thread)
		return target_call(SYS_sched_setattr, arguments[0], arguments[1], arguments[2]);
	result = priority_attributes_copy((struct scheduling_attributes *)arguments[1], &wanted);
	if (result || wanted.flags & FLAG_KEEP_PARAMETERS)
		return result;
	affinity_get_scheduling(thread, &policy, &priority);
	if (!(wanted.flags & FLAG_KEEP_POLICY))
		policy = (int)wanted.policy;
	if (policy == POLICY_DEADLINE)
		return -EPERM;
	result = affinity_set_scheduling(thread, policy, (int)wanted.priority);
	if (!result && (policy == SCHED_OTHER || policy == SCHED_BATCH))
		result = priority_nice_set(thread, wanted.nice) ? -EPERM : 0;
	return result;
}

long call_sched_getattr(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[0]);
	struct scheduling_attributes *out = (struct scheduling_attributes *)arguments[1];
	int policy, priority;
	long result;

	(void)site;
	/* The kernel checks the arguments and fills in the fields that are not emulated. */
	result = platform_call(SYS_sched_getattr, thread ? 0 : arguments[0], arguments[1],
		arguments[2], arguments[3]);
	if (platform_failed(result) || !thread)
		return result;
	affinity_get_scheduling(thread, &policy, &priority);
	out->policy = (uint32_t)policy;
	out->priority = (uint32_t)priority;
	out->nice = policy == SCHED_OTHER || policy == SCHED_BATCH ? priority_nice_get(thread) : 0;
	return 0;
}

#define IO_WHO_PROCESS 1 /* one thread */
#define IO_CLASS_SHIFT 13
#define IO_LEVELS 8

enum io_class { IO_NONE, IO_REALTIME, IO_BEST_EFFORT, IO_IDLE };

static long priority_io_check(long value)
{
	const long level = value & (IO_LEVELS - 1);

	switch (value >> IO_CLASS_SHIFT) {
	case IO_NONE:
		return level ? -EINVAL : 0;
	case IO_REALTIME:
		return priority_has_capability(CAP_SYS_ADMIN) ||
				       priority_has_capability(CAP_SYS_NICE)
			       ? 0
			       : -EPERM;
	case IO_BEST_EFFORT:
	case IO_IDLE:
		return 0;
	default:
		return -EINVAL;
	}
}

long call_ioprio_set(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[1]);
	struct thread_priority *own;
	long error;

	(void)site;
	if (arguments[0] != IO_WHO_PROCESS || !thread)
		return target_call(SYS_ioprio_set, arguments[0], arguments[1], arguments[2]);
	own = priority_of(thread);
	error = priority_io_check((int)arguments[2]);
	if (!error && own) {
		own->io = (uint16_t)arguments[2];
		own->has_io = has_priorities = true;
	}
	return error;
}

long call_ioprio_get(const long arguments[6], uint64_t site)
{
	const struct engine_thread *thread = thread_of_id_or_self((pid_t)arguments[1]);
	const struct thread_priority *own;

	(void)site;
	if (arguments[0] != IO_WHO_PROCESS || !thread)
		return platform_call(SYS_ioprio_get, arguments[0], arguments[1]);
	own = priority_of(thread);
	return own && own->has_io ? own->io : platform_call(SYS_ioprio_get, IO_WHO_PROCESS, 0);
}
