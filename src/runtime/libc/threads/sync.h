/* Conversions of results and times that the interposed synchronisation functions share. */
#ifndef RADDLE_RUNTIME_LIBC_THREADS_SYNC_H
#define RADDLE_RUNTIME_LIBC_THREADS_SYNC_H

#include <time.h>

#include "engine/sync.h"
#include "runtime/interpose.h"

/* A second exported name of an exported function of the same file. Written as assembly: glibc's
 * headers give some names attributes, or redirect them, in ways that the compiler's alias
 * attribute refuses. */
#define EXPORT_ALIAS(name, function)                                                               \
	__asm__(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #function)

/* True for the clocks that glibc accepts in timed waits of locks and condition variables. */
static inline bool sync_has_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool sync_is_valid_time(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/* The deadline of a lock call. An invalid time counts as a past deadline, because POSIX wants
 * EINVAL only from a call that must block. sync_timed_result() turns that time-out into EINVAL. */
static inline uint64_t sync_deadline(clockid_t clock, const struct timespec *time)
{
	return sync_is_valid_time(time) ? runtime_deadline(clock, time) : 0;
}

/* The result of a call. Acts on a cancellation request first. */
static inline int sync_result(int error)
{
	if (__builtin_expect(error == SYNC_CANCELLED, 0))
		runtime_act_on_cancel();
	return error;
}

static inline int sync_timed_result(int error, const struct timespec *time)
{
	return (error == ETIMEDOUT || error == EDEADLK) && !sync_is_valid_time(time)
		       ? EINVAL
		       : sync_result(error);
}

/* For functions that report errors through errno. */
static inline int sync_errno_result(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}

#endif
