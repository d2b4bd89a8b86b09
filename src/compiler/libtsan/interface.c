/* Functions that programs find only in ThreadSanitizer's library: they are linked with it before
 * libc's static part, or ask for services of all sanitizers, which raddle does not have. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

EXPORT int atexit(void (*function)(void));
EXPORT int atexit(void (*function)(void))
{
	/* x86-64's calling convention lets a function ignore its argument. */
	return __cxa_atexit((void (*)(void *))(void *)function, NULL, NULL);
}

EXPORT void __sanitizer_set_death_callback(void (*callback)(void));
EXPORT void __sanitizer_set_death_callback(void (*callback)(void))
{
	(void)callback;
}

EXPORT void __sanitizer_print_stack_trace(void);
EXPORT void __sanitizer_print_stack_trace(void)
{
}

EXPORT void __sanitizer_set_report_path(const char *path);
EXPORT void __sanitizer_set_report_path(const char *path)
{
	(void)path;
}

EXPORT void __sanitizer_set_report_fd(void *descriptor);
EXPORT void __sanitizer_set_report_fd(void *descriptor)
{
	(void)descriptor;
}
