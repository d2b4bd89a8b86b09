/* Conversions of results and times that the interposed synchronisation functions share. */
#pragma once

#include <time.h>

#include "engine/sync.h"
#include "runtime/interpose.h"

/* Defines a second exported name. The definition is in assembly, because the compiler's alias
 * attribute refuses names to which glibc's headers give attributes. */
#define EXPORT_ALIAS(name, function)                                                               \
	__asm__(".globl " #name "\n.type " #name ", @function\n.set " #name ", " #function)

/* Returns whether glibc accepts the clock in timed waits of locks and condition variables. */
static inline bool sync_has_clock(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC;
}

static inline bool sync_is_valid_time(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < 1000000000;
}

/* Returns the deadline in virtual time. An invalid time counts as past, because POSIX wants EINVAL
 * only from a call that must block: sync_timed_result() turns that time-out into EINVAL. */
static inline uint64_t sync_deadline(clockid_t clock, const struct timespec *time)
{
	return sync_is_valid_time(time) ? runtime_deadline(clock, time) : 0;
}

/* Returns the result of a call. Acts on a cancellation request first. */
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

/* Reports an error through errno. */
static inline int sync_errno_result(int error)
{
	if (!error)
		return 0;
	errno = error;
	return -1;
}
