#include "runtime/system_calls.h"

#include <sys/syscall.h>

#include "runtime/interpose.h"

/* Younger than the headers of some systems. */
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* Beyond the newest call in the table. */
#define NUMBERS_MAX 512

typedef long system_call(const long arguments[6], uint64_t site);

static system_call *const system_calls[NUMBERS_MAX] = {
#define SYSTEM_CALL(name) [SYS_##name] = call_##name,
#define BLOCKING_CALL(name) SYSTEM_CALL(name)
#include "runtime/system_calls.def"
#undef SYSTEM_CALL
#undef BLOCKING_CALL
};

bool system_call_answer(long number, const long arguments[6], uint64_t site, long *result)
{
	long answer;

	if (number < 0 || number >= NUMBERS_MAX || !system_calls[number])
		return runtime_emulate_time(number, arguments, result) ||
		       runtime_emulate_process(number, arguments, result);
	answer = system_calls[number](arguments, site);
	if (answer == CALL_OF_KERNEL)
		return false;
	*result = answer;
	return true;
}
