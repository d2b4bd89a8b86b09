#include "runtime/libc/system_calls.h"

#include "runtime/interpose.h"

/* Larger than the newest call in the table. */
#define NUMBERS_MAX 512

static system_call *const system_calls[NUMBERS_MAX] = {
#define SYSTEM_CALL(name) [SYS_##name] = call_##name,
#define BLOCKING_CALL(name) SYSTEM_CALL(name)
#include "runtime/libc/system_calls.def"
#undef SYSTEM_CALL
#undef BLOCKING_CALL
};

long system_call_make(system_call *function, long number, const long arguments[6], uint64_t site)
{
	const long *a = arguments;
	long answer = function(a, site);

	return answer == CALL_OF_KERNEL ? target_call(number, a[0], a[1], a[2], a[3], a[4], a[5])
					: answer;
}

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
