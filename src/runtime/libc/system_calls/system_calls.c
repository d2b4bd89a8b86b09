#include "runtime/libc/system_calls.h"

#include "runtime/interpose.h"

long system_call_make(system_call *function, long number, const long arguments[6], uint64_t site)
{
	const long *a = arguments;
	long answer = function(a, site);

	return answer == CALL_OF_KERNEL ? target_call(number, a[0], a[1], a[2], a[3], a[4], a[5])
					: answer;
}

/* A switch, because a table of functions would need relocations in every process. */
static bool system_call_find_answer(
	long number, const long arguments[6], uint64_t site, long *answer)
{
	switch (number) {
#define SYSTEM_CALL(name)                                                                          \
	case SYS_##name:                                                                           \
		*answer = call_##name(arguments, site);                                            \
		return true;
#define BLOCKING_CALL(name) SYSTEM_CALL(name)
#include "runtime/libc/system_calls.def"
#undef SYSTEM_CALL
#undef BLOCKING_CALL
	default:
		return false;
	}
}

bool system_call_answer(long number, const long arguments[6], uint64_t site, long *result)
{
	long answer;

	if (!system_call_find_answer(number, arguments, site, &answer))
		return runtime_emulate_time(number, arguments, result) ||
		       runtime_emulate_process(number, arguments, result);
	if (answer == CALL_OF_KERNEL)
		return false;
	*result = answer;
	return true;
}
