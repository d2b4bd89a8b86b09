/* Start-up, and entries and exits of functions. */
#include "compiler/tsan/hook.h"

/* Called by a constructor of every object. */
TSAN_EXPORT void __tsan_init(void);
TSAN_EXPORT void __tsan_init(void)
{
	tsan_begin();
}

TSAN_EXPORT void __tsan_func_entry(void *caller);
TSAN_EXPORT void __tsan_func_entry(void *caller)
{
	(void)caller;
}

TSAN_EXPORT void __tsan_func_exit(void);
TSAN_EXPORT void __tsan_func_exit(void)
{
}
