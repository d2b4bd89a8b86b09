/* User and group ids, process ids, and random numbers, which the run's seed determines. glibc
 * changes ids by a signal that each kernel thread must answer; fibers never answer, so the calls go
 * to the kernel directly. */
#include <grp.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"

/* A process id read before the starting point is wrong in a fork that executes a run. The flag lets
 * the restart detect this. */
long call_getpid(const long arguments[6], uint64_t site)
{
	(void)arguments;
	(void)site;
	runtime.knows_its_id = true;
	return platform_call(SYS_getpid);
}

long call_getppid(const long arguments[6], uint64_t site)
{
	(void)arguments;
	(void)site;
	runtime.knows_its_id = true;
	return platform_call(SYS_getppid);
}

INTERPOSED(pid_t, getpid, (void), (pid_t)ANSWER(getpid, 0));

pid_t __getpid(void);

INTERPOSED(pid_t, __getpid, (void), (pid_t)ANSWER(getpid, 0));
INTERPOSED(pid_t, getppid, (void), (pid_t)ANSWER(getppid, 0));

INTERPOSED(int, setuid, (uid_t user), (int)interpose_result(target_call(SYS_setuid, user)));
INTERPOSED(int, setgid, (gid_t group), (int)interpose_result(target_call(SYS_setgid, group)));
INTERPOSED(int, setreuid, (uid_t real, uid_t effective),
	(int)interpose_result(target_call(SYS_setreuid, real, effective)));
INTERPOSED(int, setregid, (gid_t real, gid_t effective),
	(int)interpose_result(target_call(SYS_setregid, real, effective)));
INTERPOSED(int, setresuid, (uid_t real, uid_t effective, uid_t saved),
	(int)interpose_result(target_call(SYS_setresuid, real, effective, saved)));
INTERPOSED(int, setresgid, (gid_t real, gid_t effective, gid_t saved),
	(int)interpose_result(target_call(SYS_setresgid, real, effective, saved)));

EXPORT int seteuid(uid_t user)
{
	ENTER();
	if (user == (uid_t)-1)
		return (int)interpose_result(-EINVAL);
	return (int)interpose_result(target_call(SYS_setresuid, -1, user, -1));
}

EXPORT int setegid(gid_t group)
{
	ENTER();
	if (group == (gid_t)-1)
		return (int)interpose_result(-EINVAL);
	return (int)interpose_result(target_call(SYS_setresgid, -1, group, -1));
}

INTERPOSED(int, setgroups, (size_t count, const gid_t *groups),
	(int)interpose_result(target_call(SYS_setgroups, count, groups)));

#define ENTROPY_BYTES_MAX 256

void runtime_random_bytes(void *buffer, size_t bytes)
{
	engine_random_bytes(buffer, bytes);
}

long call_getrandom(const long arguments[6], uint64_t site)
{
	(void)site;
	if (arguments[2] & ~(long)(GRND_NONBLOCK | GRND_RANDOM | GRND_INSECURE))
		return -EINVAL;
	if (arguments[1] && interpose_is_bad_pointer((const void *)arguments[0]))
		return -EFAULT;
	runtime_random_bytes((void *)arguments[0], (size_t)arguments[1]);
	return arguments[1];
}

ANSWERED(ssize_t, getrandom, (void *buffer, size_t bytes, unsigned int flags), getrandom, buffer,
	bytes, flags);

EXPORT int getentropy(void *buffer, size_t bytes)
{
	ENTER();
	if (bytes > ENTROPY_BYTES_MAX)
		return (int)interpose_result(-EIO);
	runtime_random_bytes(buffer, bytes);
	return 0;
}

EXPORT void arc4random_buf(void *buffer, size_t bytes)
{
	ENTER();
	runtime_random_bytes(buffer, bytes);
}

EXPORT uint32_t arc4random(void)
{
	uint32_t value;

	ENTER();
	runtime_random_bytes(&value, sizeof value);
	return value;
}

/* libstdc++'s std::random_device would read the processor's random numbers directly. */
uint32_t cxx_random_device(void *device) __asm__("_ZNSt13random_device9_M_getvalEv");

EXPORT uint32_t cxx_random_device(void *device)
{
	uint32_t value;

	ENTER();
	(void)device;
	runtime_random_bytes(&value, sizeof value);
	return value;
}

EXPORT uint32_t arc4random_uniform(uint32_t bound)
{
	uint64_t product;
	uint32_t value;

	ENTER();
	if (bound < 2)
		return 0;
	do { /* rejection: every result is equally likely */
		runtime_random_bytes(&value, sizeof value);
		product = (uint64_t)value * bound;
	} while ((uint32_t)product < -bound % bound);
	return (uint32_t)(product >> 32);
}
