/* Sleeping: an operation that only time enables. With virtual time, a sleep takes no real time,
 * unless the process also waits for the outside world. */
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

/* Sleeps until the deadline; only handlers and cancellation interrupt. Returns 0 or EINTR.
 * `length`: see record_op. */
static int sleep_until(uint64_t deadline_ns, uint64_t length, uint64_t site)
{
	struct engine_op op = {.kind = OP_SLEEP,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.is_timeout_only = true,
		.argument = length,
		.site = site,
		.deadline_ns = deadline_ns};

	switch (engine_perform(&op)) {
	case WAIT_CANCELLED:
		runtime_act_on_cancel();
	case WAIT_INTERRUPTED:
		return EINTR;
	default:
		return 0;
	}
}

/* Returns 0, EINTR or EINVAL. `remaining` (may be NULL) is set after EINTR. */
static int sleep_for(const struct timespec *request, struct timespec *remaining, uint64_t site)
{
	uint64_t deadline_ns;
	uint64_t now_ns;
	int error;

	if (!time_is_valid(request) || request->tv_sec < 0)
		return EINVAL;
	deadline_ns = runtime_deadline_after(request);
	error = sleep_until(deadline_ns, time_from_timespec(request) + 1, site);
	if (error && remaining) {
		now_ns = time_now_ns();
		*remaining = time_to_timespec(deadline_ns > now_ns ? deadline_ns - now_ns : 0);
	}
	return error;
}

static int sleep_on_clock(clockid_t clock, int flags, const struct timespec *request,
	struct timespec *remaining, uint64_t site)
{
	struct timespec now;

	if (clock == CLOCK_THREAD_CPUTIME_ID)
		return EINVAL;
	if (platform_failed(platform_call(SYS_clock_gettime, clock, &now)))
		return EINVAL;
	if (!(flags & TIMER_ABSTIME))
		return sleep_for(request, remaining, site);
	if (!time_is_valid(request) || request->tv_sec < 0)
		return EINVAL;
	return sleep_until(runtime_deadline(clock, request), 0, site);
}

ANSWERED(int, nanosleep, (const struct timespec *request, struct timespec *remaining), nanosleep,
	request, remaining);
INTERPOSED(int, clock_nanosleep,
	(clockid_t clock, int flags, const struct timespec *request, struct timespec *remaining),
	(int)-ANSWER(clock_nanosleep, clock, flags, request, remaining));

EXPORT int usleep(useconds_t microseconds)
{
	ENTER();
	struct timespec request = time_to_timespec((uint64_t)microseconds * 1000);
	int error = sleep_for(&request, NULL, CALL_SITE);

	if (!error)
		return 0;
	errno = error;
	return -1;
}

EXPORT unsigned int sleep(unsigned int seconds)
{
	struct timespec request = {.tv_sec = seconds};
	struct timespec remaining;

	ENTER();
	if (!sleep_for(&request, &remaining, CALL_SITE))
		return 0;
	return (unsigned int)remaining.tv_sec; /* rounded down, like in glibc */
}

EXPORT int thrd_sleep(const struct timespec *request, struct timespec *remaining)
{
	ENTER();
	int error = sleep_for(request, remaining, CALL_SITE);

	if (!error)
		return 0;
	return error == EINTR ? -1 : -2;
}

long call_nanosleep(const long arguments[6], uint64_t site)
{
	const struct timespec *request = (const struct timespec *)arguments[0];

	if (interpose_is_bad_pointer(request))
		return -EFAULT;
	return -sleep_for(request, (struct timespec *)arguments[1], site);
}

long call_clock_nanosleep(const long arguments[6], uint64_t site)
{
	const struct timespec *request = (const struct timespec *)arguments[2];

	if (interpose_is_bad_pointer(request))
		return -EFAULT;
	return -sleep_on_clock((clockid_t)arguments[0], (int)arguments[1], request,
		(struct timespec *)arguments[3], site);
}
