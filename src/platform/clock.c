#include <sys/syscall.h>
#include <time.h>

#include "platform/platform.h"

static uint64_t clock_read(clockid_t clock)
{
	struct timespec now = {0};

	(void)platform_call(SYS_clock_gettime, clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

uint64_t platform_monotonic_ns(void)
{
	return clock_read(CLOCK_MONOTONIC);
}
