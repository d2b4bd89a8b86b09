/*
 * What programs say of their own synchronisation: orders, locks, fibers and accesses to ignore. A
 * lock is an acquire and a release of its address; accesses inside its own functions are ignored, as
 * ThreadSanitizer does.
 */
#include "compiler/tsan/hook.h"

#define UNUSED __attribute__((unused))
#define ADDRESS const volatile void *address
#define LOCATION UNUSED const char *file, UNUSED int line

/* Flags of sanitizer/tsan_interface.h. */
#define MUTEX_TRY_LOCK_FAILED 0x20u

#define FUNCTION(type, name, parameters, ...)                                                      \
	TSAN_EXPORT type name parameters;                                                          \
	TSAN_EXPORT type name parameters                                                           \
	{                                                                                          \
		__VA_ARGS__;                                                                       \
	}

#define EMPTY(name, ...) FUNCTION(void, name, (__VA_ARGS__), (void)0)
#define ACQUIRE tsan_ordered(address, SITE_ACQUIRE, TSAN_SITE)
#define RELEASE tsan_ordered(address, SITE_RELEASE, TSAN_SITE)

FUNCTION(void, __tsan_acquire, (ADDRESS), ACQUIRE)
FUNCTION(void, __tsan_release, (ADDRESS), RELEASE)
FUNCTION(void, AnnotateHappensAfter, (LOCATION, ADDRESS), ACQUIRE)
FUNCTION(void, AnnotateHappensBefore, (LOCATION, ADDRESS), RELEASE)
FUNCTION(void, WTFAnnotateHappensAfter, (LOCATION, ADDRESS), ACQUIRE)
FUNCTION(void, WTFAnnotateHappensBefore, (LOCATION, ADDRESS), RELEASE)

FUNCTION(void, __tsan_ignore_thread_begin, (void), tsan_ignore(1))
FUNCTION(void, __tsan_ignore_thread_end, (void), tsan_ignore(-1))
FUNCTION(void, AnnotateIgnoreReadsBegin, (LOCATION), tsan_ignore(1))
FUNCTION(void, AnnotateIgnoreReadsEnd, (LOCATION), tsan_ignore(-1))
FUNCTION(void, AnnotateIgnoreWritesBegin, (LOCATION), tsan_ignore(1))
FUNCTION(void, AnnotateIgnoreWritesEnd, (LOCATION), tsan_ignore(-1))
FUNCTION(void, AnnotateBenignRace, (LOCATION, ADDRESS, UNUSED const char *why),
	tsan_ignore_memory(address, 1))
FUNCTION(void, AnnotateBenignRaceSized, (LOCATION, ADDRESS, size_t bytes, UNUSED const char *why),
	tsan_ignore_memory(address, bytes))
FUNCTION(void, WTFAnnotateBenignRaceSized,
	(LOCATION, ADDRESS, size_t bytes, UNUSED const char *why),
	tsan_ignore_memory(address, bytes))

/* Each call of a lock's function lies between a call before it and one after it. */
FUNCTION(void, __tsan_mutex_pre_lock, (UNUSED ADDRESS, UNUSED unsigned flags), tsan_ignore(1))
FUNCTION(void, __tsan_mutex_post_lock, (ADDRESS, unsigned flags, UNUSED int recursion),
	 tsan_ignore(-1);
	 if (!(flags & MUTEX_TRY_LOCK_FAILED)) ACQUIRE)
/* Returns the number of released levels of a recursive lock. */
FUNCTION(int, __tsan_mutex_pre_unlock, (ADDRESS, UNUSED unsigned flags), RELEASE; tsan_ignore(1);
	 return 1)
FUNCTION(void, __tsan_mutex_post_unlock, (UNUSED ADDRESS, UNUSED unsigned flags), tsan_ignore(-1))
FUNCTION(void, __tsan_mutex_pre_signal, (UNUSED ADDRESS, UNUSED unsigned flags), tsan_ignore(1))
FUNCTION(void, __tsan_mutex_post_signal, (UNUSED ADDRESS, UNUSED unsigned flags), tsan_ignore(-1))
/* The lock's function calls other code, whose accesses count. */
FUNCTION(void, __tsan_mutex_pre_divert, (UNUSED ADDRESS, UNUSED unsigned flags), tsan_ignore(-1))
FUNCTION(void, __tsan_mutex_post_divert, (UNUSED ADDRESS, UNUSED unsigned flags), tsan_ignore(1))
EMPTY(__tsan_mutex_create, UNUSED ADDRESS, UNUSED unsigned flags)
EMPTY(__tsan_mutex_destroy, UNUSED ADDRESS, UNUSED unsigned flags)
FUNCTION(void, AnnotateRWLockAcquired, (LOCATION, ADDRESS, UNUSED long is_write), ACQUIRE)
FUNCTION(void, AnnotateRWLockReleased, (LOCATION, ADDRESS, UNUSED long is_write), RELEASE)
EMPTY(AnnotateRWLockCreate, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateRWLockCreateStatic, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateRWLockDestroy, LOCATION, UNUSED ADDRESS)

/* A fiber's accesses count as those of its thread. What a fiber has done happens before it continues,
 * also on another thread. The handle of a thread's own stack is the address of `fiber_now`. */
static __thread void *fiber_now;
static unsigned long fiber_count;

TSAN_EXPORT void *__tsan_get_current_fiber(void);
TSAN_EXPORT void *__tsan_get_current_fiber(void)
{
	return fiber_now ? fiber_now : (void *)&fiber_now;
}

/* Returns a number that no other fiber has and that is no address of a variable. */
FUNCTION(void *, __tsan_create_fiber, (UNUSED unsigned flags),
	return (void *)(uintptr_t)(2 * __sync_add_and_fetch(&fiber_count, 1) + 1))
EMPTY(__tsan_destroy_fiber, UNUSED void *fiber)
EMPTY(__tsan_set_fiber_name, UNUSED void *fiber, UNUSED const char *name)

TSAN_EXPORT void __tsan_switch_to_fiber(void *fiber, unsigned flags);
TSAN_EXPORT void __tsan_switch_to_fiber(void *fiber, unsigned flags)
{
	(void)flags; /* The flag asks for no order, but fibers of one thread are ordered here. */
	tsan_ordered(__tsan_get_current_fiber(), SITE_RELEASE, TSAN_SITE);
	fiber_now = fiber;
	tsan_ordered(fiber, SITE_ACQUIRE, TSAN_SITE);
}

/* Objects of other languages, whose methods read or write: one access to the object's first byte. */
#define EXTERNAL(name, kind)                                                                       \
	FUNCTION(void, name, (ADDRESS, void *caller, UNUSED void *tag),                            \
		tsan_reached(address, 1, kind, SITE_RELAXED, (uint64_t)(uintptr_t)caller))
EXTERNAL(__tsan_external_read, SITE_LOAD)
EXTERNAL(__tsan_external_write, SITE_STORE)
FUNCTION(void *, __tsan_external_register_tag, (const char *type), return (void *)(uintptr_t)type)
EMPTY(__tsan_external_register_header, UNUSED void *tag, UNUSED const char *header)
EMPTY(__tsan_external_assign_tag, UNUSED ADDRESS, UNUSED void *tag)

/* Annotations without an effect in ThreadSanitizer, too, or without a meaning here. */
EMPTY(__tsan_flush_memory, void)
EMPTY(AnnotateIgnoreSyncBegin, LOCATION)
EMPTY(AnnotateIgnoreSyncEnd, LOCATION)
EMPTY(AnnotateThreadName, LOCATION, UNUSED const char *name)
EMPTY(AnnotateCondVarSignal, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateCondVarSignalAll, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateCondVarWait, LOCATION, UNUSED ADDRESS, UNUSED const volatile void *lock)
EMPTY(AnnotateMutexIsNotPHB, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateMutexIsUsedAsCondVar, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotatePCQCreate, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotatePCQDestroy, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotatePCQGet, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotatePCQPut, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateNewMemory, LOCATION, UNUSED ADDRESS, UNUSED size_t bytes)
EMPTY(AnnotatePublishMemoryRange, LOCATION, UNUSED ADDRESS, UNUSED size_t bytes)
EMPTY(AnnotateUnpublishMemoryRange, LOCATION, UNUSED ADDRESS, UNUSED size_t bytes)
EMPTY(AnnotateMemoryIsInitialized, LOCATION, UNUSED ADDRESS, UNUSED size_t bytes)
EMPTY(AnnotateMemoryIsUninitialized, LOCATION, UNUSED ADDRESS, UNUSED size_t bytes)
EMPTY(AnnotateExpectRace, LOCATION, UNUSED ADDRESS, UNUSED const char *why)
EMPTY(AnnotateFlushExpectedRaces, LOCATION)
EMPTY(AnnotateEnableRaceDetection, LOCATION, UNUSED int enable)
EMPTY(AnnotateTraceMemory, LOCATION, UNUSED ADDRESS)
EMPTY(AnnotateFlushState, LOCATION)
EMPTY(AnnotateNoOp, LOCATION, UNUSED ADDRESS)

TSAN_EXPORT int RunningOnValgrind(void);
TSAN_EXPORT int RunningOnValgrind(void)
{
	return 0;
}
