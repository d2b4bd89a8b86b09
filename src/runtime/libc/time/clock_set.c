/* Setting the clock. With virtual time, the machine's clock is never set. A program with the right
 * to set it changes its own virtual clock, in this run only. Other programs get the kernel's
 * error. */
#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <time.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

static bool clock_set_may_set_clock(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct sets[2] = {0};

	return !platform_failed(platform_call(SYS_capget, &header, sets)) &&
	       sets[0].effective & 1U << CAP_SYS_TIME;
}

static long clock_set(clockid_t clock, const struct timespec *wanted)
{
	struct timespec time;

	if (!runtime.has_virtual_time || interpose_is_bad_pointer(wanted))
		return target_call(SYS_clock_settime, clock, wanted);
	if (clock != CLOCK_REALTIME || !time_is_valid(wanted) || wanted->tv_sec < 0)
		return -EINVAL;
	if (!clock_set_may_set_clock())
		return -EPERM;
	time = *wanted;
	time_set_realtime(&time);
	return 0;
}

static long clock_set_day_set(const struct timeval *wanted, const struct timezone *zone)
{
	struct timespec time;

	if (!runtime.has_virtual_time)
		return target_call(SYS_settimeofday, wanted, zone);
	if (wanted && (wanted->tv_usec < 0 || wanted->tv_usec >= 1000000))
		return -EINVAL;
	if (!wanted)
		return clock_set_may_set_clock() ? 0 : -EPERM;
	time = (struct timespec){.tv_sec = wanted->tv_sec, .tv_nsec = wanted->tv_usec * 1000};
	return clock_set(CLOCK_REALTIME, &time);
}

/* Reads the machine's values; a change of the virtual clock's speed has no effect. */
static long clock_adjust(long number, clockid_t clock, struct timex *timex)
{
	struct timex question = {0};
	long result;

	if (!runtime.has_virtual_time || interpose_is_bad_pointer(timex) || !timex->modes)
		return number == SYS_adjtimex ? target_call(SYS_adjtimex, timex)
					      : target_call(SYS_clock_adjtime, clock, timex);
	if (!clock_set_may_set_clock())
		return -EPERM;
	result = platform_call(SYS_adjtimex, &question);
	*timex = question;
	return result;
}

bool time_emulate_setting(long number, const long arguments[6], long *result)
{
	switch (number) {
	case SYS_clock_settime:
		*result = clock_set((clockid_t)arguments[0], (const struct timespec *)arguments[1]);
		return true;
	case SYS_settimeofday:
		*result = clock_set_day_set((const struct timeval *)arguments[0],
			(const struct timezone *)arguments[1]);
		return true;
	case SYS_adjtimex:
		*result = clock_adjust(number, CLOCK_REALTIME, (struct timex *)arguments[0]);
		return true;
	case SYS_clock_adjtime:
		*result =
			clock_adjust(number, (clockid_t)arguments[0], (struct timex *)arguments[1]);
		return true;
	default:
		return false;
	}
}

INTERPOSED(int, clock_settime, (clockid_t clock, const struct timespec *wanted),
	(int)interpose_result(clock_set(clock, wanted)));
INTERPOSED(int, settimeofday, (const struct timeval *wanted, const struct timezone *zone),
	(int)interpose_result(clock_set_day_set(wanted, zone)));
INTERPOSED(int, adjtimex, (struct timex * timex),
	(int)interpose_result(clock_adjust(SYS_adjtimex, CLOCK_REALTIME, timex)));
INTERPOSED(int, ntp_adjtime, (struct timex * timex),
	(int)interpose_result(clock_adjust(SYS_adjtimex, CLOCK_REALTIME, timex)));
INTERPOSED(int, clock_adjtime, (clockid_t clock, struct timex *timex),
	(int)interpose_result(clock_adjust(SYS_clock_adjtime, clock, timex)));

/* Adjusts the clock at once, so that no adjustment is left over. */
EXPORT int adjtime(const struct timeval *change, struct timeval *left)
{
	ENTER();
	if (!runtime.has_virtual_time)
		return REAL(adjtime)(change, left);
	if (change && !clock_set_may_set_clock())
		return (int)interpose_result(-EPERM);
	if (left)
		*left = (struct timeval){0};
	return 0;
}
