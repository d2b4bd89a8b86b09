/* The rest of ThreadSanitizer's interface: start-up, function entry and exit, and annotations by
 * programs. */
#include "compiler/tsan/hook.h"

#define EMPTY(name, ...)                                                                           \
	TSAN_EXPORT void name(__VA_ARGS__);                                                        \
	TSAN_EXPORT void name(__VA_ARGS__)                                                         \
	{                                                                                          \
	}

/* Called by a constructor of every object. */
TSAN_EXPORT void __tsan_init(void);
TSAN_EXPORT void __tsan_init(void)
{
	tsan_begin();
}

EMPTY(__tsan_func_entry, __attribute__((unused)) void *caller)
EMPTY(__tsan_func_exit, void)
EMPTY(__tsan_ignore_thread_begin, void)
EMPTY(__tsan_ignore_thread_end, void)

/* The atomic operations of the program's own locks are instrumented anyway. */
EMPTY(__tsan_acquire, __attribute__((unused)) void *address)
EMPTY(__tsan_release, __attribute__((unused)) void *address)
EMPTY(__tsan_mutex_create, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_destroy, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_pre_lock, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_post_lock, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags, __attribute__((unused)) int recursion)
EMPTY(__tsan_mutex_post_unlock, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_pre_signal, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_post_signal, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_pre_divert, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)
EMPTY(__tsan_mutex_post_divert, __attribute__((unused)) void *address,
	__attribute__((unused)) unsigned flags)

TSAN_EXPORT int __tsan_mutex_pre_unlock(void *address, unsigned flags);
TSAN_EXPORT int __tsan_mutex_pre_unlock(void *address, unsigned flags)
{
	(void)address;
	(void)flags;
	return 1; /* number of recursion levels released */
}

#define PLACE __attribute__((unused)) const char *file, __attribute__((unused)) int line
#define ADDRESS __attribute__((unused)) const volatile void *address

EMPTY(AnnotateHappensBefore, PLACE, ADDRESS)
EMPTY(AnnotateHappensAfter, PLACE, ADDRESS)
EMPTY(AnnotateRWLockCreate, PLACE, ADDRESS)
EMPTY(AnnotateRWLockCreateStatic, PLACE, ADDRESS)
EMPTY(AnnotateRWLockDestroy, PLACE, ADDRESS)
EMPTY(AnnotateRWLockAcquired, PLACE, ADDRESS, __attribute__((unused)) long is_write)
EMPTY(AnnotateRWLockReleased, PLACE, ADDRESS, __attribute__((unused)) long is_write)
EMPTY(AnnotateBenignRace, PLACE, ADDRESS, __attribute__((unused)) const char *why)
EMPTY(AnnotateBenignRaceSized, PLACE, ADDRESS, __attribute__((unused)) size_t bytes,
	__attribute__((unused)) const char *why)
EMPTY(AnnotateIgnoreReadsBegin, PLACE)
EMPTY(AnnotateIgnoreReadsEnd, PLACE)
EMPTY(AnnotateIgnoreWritesBegin, PLACE)
EMPTY(AnnotateIgnoreWritesEnd, PLACE)
EMPTY(AnnotateIgnoreSyncBegin, PLACE)
EMPTY(AnnotateIgnoreSyncEnd, PLACE)
EMPTY(AnnotateThreadName, PLACE, __attribute__((unused)) const char *name)
