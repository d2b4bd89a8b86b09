#include "process/doorbell.h"

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* futex_waitv (Linux 5.16) is missing in the headers of some supported glibc versions. */
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

/* Longest delay of a ring on a kernel without futex_waitv. */
#define POLL_NS 1000000

static void doorbell_wait_one(const struct doorbell *bell, uint64_t timeout_ns)
{
	struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000),
		.tv_nsec = (long)(timeout_ns % 1000000000),
	};

	/* The result is irrelevant: the caller polls in any case. */
	(void)syscall(SYS_futex, bell->word, FUTEX_WAIT, bell->seen, &timeout, NULL, 0);
}

void doorbell_wait(const struct doorbell *bells, unsigned count, uint64_t timeout_ns)
{
	struct futex_waitv waiters[FUTEX_WAITV_MAX];
	struct timespec until;

	if (count == 1) {
		doorbell_wait_one(bells, timeout_ns);
		return;
	}
	if (count > FUTEX_WAITV_MAX) {
		doorbell_wait_one(bells, timeout_ns < POLL_NS ? timeout_ns : POLL_NS);
		return;
	}
	for (unsigned i = 0; i < count; i++)
		waiters[i] = (struct futex_waitv){
			.val = bells[i].seen,
			.uaddr = (uintptr_t)bells[i].word,
			.flags = FUTEX_32,
		};
	(void)clock_gettime(CLOCK_MONOTONIC, &until); /* this clock always exists */
	until.tv_sec += (time_t)(timeout_ns / 1000000000);
	until.tv_nsec += (long)(timeout_ns % 1000000000);
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	if (syscall(SYS_futex_waitv, waiters, count, 0, &until, CLOCK_MONOTONIC) < 0 &&
		errno == ENOSYS)
		doorbell_wait_one(bells, timeout_ns < POLL_NS ? timeout_ns : POLL_NS);
}
