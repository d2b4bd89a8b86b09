/*
 * pthread_once, on which std::call_once is built, and call_once. Cancellation, pthread_exit or a
 * C++ exception may leave the routine; then the next caller runs it again. Clean-up code of the
 * compiler would need libgcc's personality function, but libraddle needs only libc. The frame that
 * calls the routine therefore names a personality function of the runtime. The unwinder calls this
 * function when it passes the frame; the function takes no part in the unwinding.
 */
#include <pthread.h>
#include <threads.h>
#include <unwind.h>

#include "engine/sync.h"
#include "runtime/libc/threads/sync.h"

/* A running routine, on its thread's stack; a list with the innermost first. */
struct once_frame {
	struct once *once;
	struct once_frame *outer;
};

static _Thread_local struct once_frame *once_innermost;

static _Unwind_Reason_Code __attribute__((used))
once_personality(int version, _Unwind_Action actions, _Unwind_Exception_Class class,
	struct _Unwind_Exception *exception, struct _Unwind_Context *context)
{
	(void)version, (void)class, (void)exception, (void)context;
	if (actions & _UA_CLEANUP_PHASE && once_innermost) {
		struct once_frame *frame = once_innermost;

		once_innermost = frame->outer;
		once_abandon(frame->once);
	}
	return _URC_CONTINUE_UNWIND;
}

/* 0x1b: the function's address is a signed 4-byte distance from its own location. */
static void __attribute__((noinline)) once_run(struct once *once, void (*routine)(void))
{
	struct once_frame frame = {.once = once, .outer = once_innermost};

	__asm__ volatile(".cfi_personality 0x1b, once_personality");
	once_innermost = &frame;
	routine();
	once_innermost = frame.outer;
}

static int once_call(struct once *once, void (*routine)(void), uint64_t site)
{
	int error = once_enter(once, site);

	if (error != EAGAIN)
		return sync_result(error);
	once_run(once, routine);
	once_done(once, site);
	return 0;
}

EXPORT int pthread_once(pthread_once_t *control, void (*routine)(void))
{
	ENTER();
	return once_call((struct once *)control, routine, CALL_SITE);
}

EXPORT void call_once(once_flag *flag, void (*routine)(void))
{
	ENTER();
	(void)once_call((struct once *)flag, routine, CALL_SITE); /* cannot fail */
}

EXPORT_ALIAS(__pthread_once, pthread_once);
