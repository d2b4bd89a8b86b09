/* syscall(): calls in the table of system calls are answered with the caller as the site
 * (std::atomic::wait and static-initialiser guards use it). glibc makes every other call, which
 * Syscall User Dispatch traps. */
#include <stdarg.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/libc/raw_thread.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"

#define ARGUMENTS_MAX 6

/* The call is no cancellation point: only asynchronous cancellation ends it. */
static bool syscall_answer(long number, const long arguments[6], uint64_t site, long *result)
{
	struct engine_thread *self = engine_current();
	const bool was_disabled = self->is_cancel_disabled;
	bool is_answered;

	if (raw_thread_is_wanted(number, arguments))
		runtime_first_create(); /* arms the dispatch, which controls the thread */
	if (!self->is_cancel_asynchronous)
		self->is_cancel_disabled = true;
	is_answered = system_call_answer(number, arguments, site, result);
	self->is_cancel_disabled = was_disabled;
	return is_answered;
}

EXPORT long syscall(long number, ...)
{
	long arguments[ARGUMENTS_MAX];
	long result;
	va_list list;

	/* Missing arguments have arbitrary values, which the kernel ignores. */
	va_start(list, number);
	for (int i = 0; i < ARGUMENTS_MAX; i++)
		arguments[i] = va_arg(list, long);
	va_end(list);
	ENTER();
	if (syscall_answer(number, arguments, RETURN_SITE, &result))
		return interpose_result(result);
	return REAL(syscall)(number, arguments[0], arguments[1], arguments[2], arguments[3],
		arguments[4], arguments[5]);
}
