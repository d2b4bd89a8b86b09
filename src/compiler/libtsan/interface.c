/* Functions that programs find only in ThreadSanitizer's library: they are linked with it before
 * libc's static part, or ask for services of all sanitizers, which raddle does not have. */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

int __cxa_atexit(void (*function)(void *), void *argument, void *library);

EXPORT int atexit(void (*function)(void));
EXPORT int atexit(void (*function)(void))
{
	/* see WITHOUT_EFFECT */
	return __cxa_atexit((void (*)(void *))(void *)function, NULL, NULL);
}

/* Services of all sanitizers, and those of a callback on reports, which raddle never calls. Each has
 * no effect and returns 0; x86-64's calling convention lets a function ignore its arguments. A
 * program that binds all its symbols at its start needs all of them. */
#define WITHOUT_EFFECT(name)                                                                       \
	EXPORT long name(void);                                                                    \
	EXPORT long name(void)                                                                     \
	{                                                                                          \
		return 0;                                                                          \
	}

WITHOUT_EFFECT(__sanitizer_set_death_callback)
WITHOUT_EFFECT(__sanitizer_print_stack_trace)
WITHOUT_EFFECT(__sanitizer_set_report_path)
WITHOUT_EFFECT(__sanitizer_set_report_fd)
WITHOUT_EFFECT(__sanitizer_report_error_summary)
WITHOUT_EFFECT(__sanitizer_get_report_path)
WITHOUT_EFFECT(__sanitizer_acquire_crash_state)
WITHOUT_EFFECT(__sanitizer_sandbox_on_notify)
WITHOUT_EFFECT(__sanitizer_symbolize_pc)
WITHOUT_EFFECT(__sanitizer_symbolize_global)
WITHOUT_EFFECT(__sanitizer_get_module_and_offset_for_pc)
WITHOUT_EFFECT(__sanitizer_install_malloc_and_free_hooks)
WITHOUT_EFFECT(__sanitizer_get_estimated_allocated_size)
WITHOUT_EFFECT(__sanitizer_get_ownership)
WITHOUT_EFFECT(__sanitizer_get_allocated_size)
WITHOUT_EFFECT(__sanitizer_get_current_allocated_bytes)
WITHOUT_EFFECT(__sanitizer_get_heap_size)
WITHOUT_EFFECT(__sanitizer_get_free_bytes)
WITHOUT_EFFECT(__sanitizer_get_unmapped_bytes)
WITHOUT_EFFECT(__tsan_get_current_report)
WITHOUT_EFFECT(__tsan_get_report_data)
WITHOUT_EFFECT(__tsan_get_report_loc)
WITHOUT_EFFECT(__tsan_get_report_loc_object_type)
WITHOUT_EFFECT(__tsan_get_report_mop)
WITHOUT_EFFECT(__tsan_get_report_mutex)
WITHOUT_EFFECT(__tsan_get_report_stack)
WITHOUT_EFFECT(__tsan_get_report_tag)
WITHOUT_EFFECT(__tsan_get_report_thread)
WITHOUT_EFFECT(__tsan_get_report_unique_tid)
WITHOUT_EFFECT(__tsan_get_alloc_stack)
WITHOUT_EFFECT(__tsan_locate_address)
