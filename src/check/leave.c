/* Exits from the function under test other than its return. If the runtime is not set up, no check
 * is active. */
#include "runtime/interpose.h"
#include "runtime/runtime.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/text.h"
#include "check/check_internal.h"

static bool leave_is_in_function(void)
{
	return runtime.contract && !runtime.is_forked_child && !runtime.is_run_over;
}

void leave_by_jump(uintptr_t stack_pointer)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	const char *stack = fiber_stack_of(engine_current());
	bool is_within;

	if (!leave_is_in_function())
		return;
	/* A jump within the function goes upwards on the stack from which it starts. */
	if (stack)
		is_within = stack_pointer > here && stack_pointer < (uintptr_t)stack;
	else
		is_within = stack_pointer > here && function_run_has_stack(stack_pointer);
	if (!is_within)
		runtime_fail_run(
			"a longjmp() left the function, as failed assertions of test frameworks do");
}

/* Ends the schedule instead of the process: atexit() handlers must not run. */
void leave_by_exit(int status)
{
	char why[64];
	struct text text;

	if (leave_is_in_function()) {
		text_init(&text, why, sizeof why);
		text_add(&text, "the function called exit(");
		text_number(&text, (uint64_t)(status & 255));
		text_add(&text, ")");
		runtime_fail_run(why);
	}
}

EXPORT void raddle_fail(const char *message)
{
	if (leave_is_in_function())
		runtime_fail_run(message);
	(void)platform_call(SYS_write, 2, message, strlen(message));
	(void)platform_call(SYS_write, 2, "\n", 1);
	abort();
}

EXPORT unsigned raddle_choose(unsigned count)
{
	return leave_is_in_function() ? engine_choose_value(count) : 0;
}
