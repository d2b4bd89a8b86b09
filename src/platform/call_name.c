/* Names of system calls, from the kernel's headers of the build. */
#include <sys/syscall.h>

#include "platform/platform.h"

const char *platform_call_name(long number)
{
	/* Arrays instead of pointers, which the loader would have to relocate in every target. */
	static const char names[][32] = {
#define SYSTEM_CALL(name) [SYS_##name] = #name,
#include "call_names.def"
#undef SYSTEM_CALL
	};
	const size_t count = sizeof names / sizeof *names;

	return number >= 0 && (size_t)number < count && *names[number] ? names[number] : NULL;
}
