#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include "platform/platform.h"

void platform_futex_wait(
	const uint32_t *word, uint32_t expected, uint64_t timeout_ns, bool is_shared)
{
	struct timespec timeout = {.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_nsec = (long)(timeout_ns % 1000000000)};

	/* EINTR, EAGAIN and ETIMEDOUT need no handling: the contract allows spurious returns. */
	(void)platform_call(SYS_futex, word, is_shared ? FUTEX_WAIT : FUTEX_WAIT_PRIVATE, expected,
		timeout_ns == UINT64_MAX ? NULL : &timeout);
}

void platform_futex_wake(const uint32_t *word, bool is_shared)
{
	(void)platform_call(SYS_futex, word, is_shared ? FUTEX_WAKE : FUTEX_WAKE_PRIVATE, 1);
}
