/* alarm and setitimer. The real-time interval timer is a deadline in virtual time: it fires when
 * all threads are blocked, or when a thread reads the clock. The processor timers stay the
 * kernel's. */
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "base/hot_state.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/world.h"

#define NS_PER_US UINT64_C(1000)

static HOT_STATE struct {
	bool is_armed;
	uint64_t deadline_ns;
	uint64_t interval_ns;	 /* 0: fires once */
	uint64_t fired_ns;	 /* time of the last expiration; 0: none since the timer was set */
	uint64_t accelerated_ns; /* engine_clock_accelerated_ns() when the timer was set */
} timer;

/* An alarm that would end the process is postponed by the time that only passes faster because
 * threads wait for it: a test's limit of a minute then does not end a run of a second. */
static uint64_t timer_wake_ns(void)
{
	uint64_t deadline_ns = timer.deadline_ns;

	if (!timer.interval_ns && signal_has_default_action(SIGALRM))
		deadline_ns += engine_clock_accelerated_ns() - timer.accelerated_ns;
	return timer_no_sooner(deadline_ns, timer.fired_ns, timer.interval_ns);
}

/* Returns whether an expiration has no effect: the last signal is still pending, or SIGALRM is
 * ignored. */
static bool timer_has_no_effect(void)
{
	return signal_queue_process() & signal_bit(SIGALRM) || signal_is_ignored(SIGALRM);
}

uint64_t timer_next_ns(void)
{
	uint64_t next_ns = posix_timer_next_ns();
	uint64_t descriptor_ns = timerfd_next_ns();

	if (descriptor_ns < next_ns)
		next_ns = descriptor_ns;
	return timer.is_armed && timer_wake_ns() < next_ns && !timer_has_no_effect()
		       ? timer_wake_ns()
		       : next_ns;
}

bool timer_fire_due(void)
{
	static const siginfo_t information = {.si_signo = SIGALRM, .si_code = SI_KERNEL};
	uint64_t now_ns = engine_clock_ns();
	bool has_fired = posix_timer_fire_due(now_ns);

	has_fired |= timerfd_fire_due(now_ns);

	if (!timer.is_armed || timer_wake_ns() > now_ns)
		return has_fired;
	timer.fired_ns = now_ns;
	if (timer.interval_ns) {
		/* Missed expirations merge into one, as pending signals do. */
		timer.deadline_ns +=
			(now_ns - timer.deadline_ns) / timer.interval_ns * timer.interval_ns;
		timer.deadline_ns += timer.interval_ns;
	} else {
		timer.is_armed = false;
	}
	signals_raise(NULL, &information);
	return true;
}

uint64_t timer_fire_and_next_ns(void)
{
	if (!time_is_virtual())
		return ENGINE_FOREVER;
	(void)timer_fire_due();
	return timer_next_ns();
}

void timer_begin_child(void)
{
	timer.is_armed = false;
	posix_timer_begin_child();
	timerfd_begin_child();
}

bool timer_is_ticking_outside(void)
{
	struct itimerval left = {0};

	return !time_is_virtual() &&
	       !platform_failed(platform_call(SYS_getitimer, ITIMER_REAL, &left)) &&
	       (left.it_value.tv_sec || left.it_value.tv_usec);
}

static uint64_t timer_left_ns(void)
{
	uint64_t now_ns = time_now_ns();

	if (!timer.is_armed)
		return 0;
	return timer.deadline_ns > now_ns ? timer.deadline_ns - now_ns : 1;
}

static void timer_arm(uint64_t first_ns, uint64_t interval_ns)
{
	timer.is_armed = first_ns != 0;
	timer.deadline_ns = time_after(first_ns);
	timer.interval_ns = interval_ns;
	timer.fired_ns = 0;
	timer.accelerated_ns = engine_clock_accelerated_ns();
}

static uint64_t timer_ns_from_timeval(const struct timeval *time)
{
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_usec * NS_PER_US;
}

static struct timeval timer_timeval_from_ns(uint64_t ns)
{
	/* An armed timer never shows 0. */
	ns += NS_PER_US - 1;
	return (struct timeval){.tv_sec = (time_t)(ns / NS_PER_SECOND),
		.tv_usec = (suseconds_t)(ns % NS_PER_SECOND / NS_PER_US)};
}

EXPORT unsigned int alarm(unsigned int seconds)
{
	uint64_t left_ns;

	ENTER();
	if (!time_is_virtual())
		return (unsigned int)target_call(SYS_alarm, seconds);
	left_ns = timer_left_ns();
	timer_arm(seconds * NS_PER_SECOND, 0);
	/* Rounded as by the kernel, but never down to 0. */
	if (left_ns && left_ns < NS_PER_SECOND)
		return 1;
	return (unsigned int)((left_ns + NS_PER_SECOND / 2) / NS_PER_SECOND);
}

EXPORT int getitimer(__itimer_which_t which, struct itimerval *out)
{
	ENTER();
	if (which != ITIMER_REAL || !time_is_virtual())
		return (int)interpose_result(platform_call(SYS_getitimer, which, out));
	out->it_value = timer_timeval_from_ns(timer_left_ns());
	out->it_interval = timer_timeval_from_ns(timer.is_armed ? timer.interval_ns : 0);
	return 0;
}

static bool timer_is_valid_timeval(const struct timeval *time)
{
	return time->tv_sec >= 0 && time->tv_usec >= 0 && time->tv_usec < 1000000;
}

EXPORT int setitimer(__itimer_which_t which, const struct itimerval *restrict wanted,
	struct itimerval *restrict old)
{
	struct itimerval next = {0};

	ENTER();
	if (which != ITIMER_REAL || !time_is_virtual())
		return (int)interpose_result(target_call(SYS_setitimer, which, wanted, old));
	if (wanted)
		next = *wanted;
	if (!timer_is_valid_timeval(&next.it_value) || !timer_is_valid_timeval(&next.it_interval))
		return (int)interpose_result(-EINVAL);
	if (old)
		(void)getitimer(which, old);
	timer_arm(timer_ns_from_timeval(&next.it_value), timer_ns_from_timeval(&next.it_interval));
	return 0;
}

EXPORT useconds_t ualarm(useconds_t value, useconds_t interval)
{
	struct itimerval wanted = {.it_value = timer_timeval_from_ns(value * NS_PER_US),
		.it_interval = timer_timeval_from_ns(interval * NS_PER_US)};
	struct itimerval old;

	ENTER();
	if (setitimer(ITIMER_REAL, &wanted, &old))
		return (useconds_t)-1;
	return (useconds_t)(old.it_value.tv_sec * 1000000 + old.it_value.tv_usec);
}
