/*
 * syscall(): what other families answer for themselves, they answer here too, with the caller as the
 * site (std::atomic::wait and static-initialiser guards come this way). Everything else goes on to
 * glibc, where Syscall User Dispatch sees it. Runs in the target's threads.
 */
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"

#define ARGUMENTS_MAX 6

static bool syscall_emulate(long number, const long arguments[6], uint64_t site, long *result)
{
	switch (number) {
	case SYS_futex:
		return runtime_emulate_futex(arguments, site, result);
	case SYS_gettid:
		*result = engine_current()->kernel_id;
		return true;
	case SYS_sched_yield:
		runtime_yield(site);
		*result = 0;
		return true;
	case SYS_exit:
		if (engine_is_live())
			engine_thread_finish(); /* fibers end here, kernel threads below */
		return false;
	default:
		return runtime_emulate_time(number, arguments, result) ||
		       runtime_emulate_signal(number, arguments, result) ||
		       runtime_emulate_descriptor(number, arguments, site, result) ||
		       runtime_emulate_process(number, arguments, site, result);
	}
}

EXPORT long syscall(long number, ...)
{
	long arguments[ARGUMENTS_MAX];
	long result;
	va_list list;

	/* Arguments that were not passed are whatever the registers hold; the kernel ignores them. */
	va_start(list, number);
	for (int i = 0; i < ARGUMENTS_MAX; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	ENTER();
	if (syscall_emulate(number, arguments, CALL_SITE, &result))
		return interpose_result(result);
	return REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
		arguments[4], arguments[5]);
}
