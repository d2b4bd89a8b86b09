/* Timer descriptors in virtual time. When the engine's clock reaches the deadline, the runtime sets
 * the kernel's timer to a time in the past. The descriptor then becomes readable for every kind of
 * poll. Expirations are counted here and returned by read(). With real time, the kernel does
 * everything. */
#include <poll.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

#include "runtime/interpose.h"
#include "runtime/libc/file_point.h"
#include "runtime/libc/world.h"

/* Further timer descriptors use real time. */
#define TIMER_DESCRIPTORS_MAX 32
/* Limit of the wait for the kernel's timer interrupt. */
#define KERNEL_TIMER_MS 1000

struct timer_descriptor {
	bool is_used;
	bool is_armed;
	int fd;
	clockid_t clock;
	uint64_t deadline_ns;
	uint64_t interval_ns;
	uint64_t expirations; /* since the last read */
};

/* Written by the functions below, when a timer fires, and when a descriptor is closed. */
static struct {
	struct timer_descriptor entries[TIMER_DESCRIPTORS_MAX];
	uint32_t used_count;
} timers;

static struct timer_descriptor *timerfd_timer_of(int fd)
{
	for (int i = 0; timers.used_count && i < TIMER_DESCRIPTORS_MAX; i++)
		if (timers.entries[i].is_used && timers.entries[i].fd == fd)
			return &timers.entries[i];
	return NULL;
}

static bool timerfd_timer_register(int fd, clockid_t clock)
{
	for (int i = 0; i < TIMER_DESCRIPTORS_MAX; i++) {
		if (timers.entries[i].is_used)
			continue;
		timers.entries[i] =
			(struct timer_descriptor){.is_used = true, .fd = fd, .clock = clock};
		timers.used_count++;
		return true;
	}
	return false;
}

static void timerfd_kernel_set(int fd, int flags, const struct itimerspec *wanted)
{
	fd_note(SYS_write, fd, platform_call(SYS_timerfd_settime, fd, flags, wanted, NULL));
}

static void timerfd_kernel_make_readable(int fd)
{
	struct itimerspec long_ago = {.it_value.tv_nsec = 1};
	struct pollfd poll = {.fd = fd, .events = POLLIN};

	timerfd_kernel_set(fd, TFD_TIMER_ABSTIME, &long_ago);
	(void)platform_call(
		SYS_poll, &poll, 1, KERNEL_TIMER_MS); /* a late kernel only delays the poll */
}

uint64_t timerfd_next_ns(void)
{
	uint64_t next_ns = ENGINE_FOREVER;

	for (int i = 0; timers.used_count && i < TIMER_DESCRIPTORS_MAX; i++)
		if (timers.entries[i].is_armed && !timers.entries[i].expirations &&
			timers.entries[i].deadline_ns < next_ns)
			next_ns = timers.entries[i].deadline_ns;
	return next_ns;
}

static void timerfd_timer_expire(struct timer_descriptor *timer, uint64_t now_ns)
{
	uint64_t times = 1;

	if (timer->interval_ns) {
		times += (now_ns - timer->deadline_ns) / timer->interval_ns;
		timer->deadline_ns += times * timer->interval_ns;
	} else {
		timer->is_armed = false;
	}
	if (!timer->expirations)
		timerfd_kernel_make_readable(timer->fd);
	timer->expirations += times;
}

bool timerfd_fire_due(uint64_t now_ns)
{
	bool has_fired = false;

	for (int i = 0; timers.used_count && i < TIMER_DESCRIPTORS_MAX; i++) {
		struct timer_descriptor *timer = &timers.entries[i];

		if (!timer->is_armed || timer->deadline_ns > now_ns)
			continue;
		timerfd_timer_expire(timer, now_ns);
		has_fired = true;
	}
	if (has_fired)
		fd_changed();
	return has_fired;
}

EXPORT int timerfd_create(clockid_t clock, int flags)
{
	ENTER();
	bool is_ours;
	long result;

	file_point(SYS_timerfd_create, (const long[6]){clock, flags}, CALL_SITE);
	result = target_call(SYS_timerfd_create, clock, flags);
	if (platform_failed(result))
		return (int)interpose_result(result);
	is_ours = time_is_virtual() && timerfd_timer_register((int)result, clock);
	fd_opened((int)result, FD_TIMERFD, is_ours, (int)result);
	return (int)result;
}

static bool timerfd_is_valid_setting(const struct itimerspec *wanted)
{
	return time_is_valid(&wanted->it_value) && time_is_valid(&wanted->it_interval) &&
	       wanted->it_value.tv_sec >= 0 && wanted->it_interval.tv_sec >= 0;
}

static void timerfd_timer_show(const struct timer_descriptor *timer, struct itimerspec *out)
{
	uint64_t now_ns = time_now_ns();
	uint64_t left_ns = timer->deadline_ns > now_ns ? timer->deadline_ns - now_ns : 1;

	*out = (struct itimerspec){.it_interval = time_to_timespec(timer->interval_ns)};
	if (timer->is_armed)
		out->it_value = time_to_timespec(left_ns);
}

EXPORT int timerfd_settime(
	int fd, int flags, const struct itimerspec *wanted, struct itimerspec *old)
{
	ENTER();
	static const struct itimerspec never;
	struct timer_descriptor *timer = timerfd_timer_of(fd);

	if (!timer)
		return (int)interpose_result(
			target_call(SYS_timerfd_settime, fd, flags, wanted, old));
	if (flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET) ||
		!timerfd_is_valid_setting(wanted))
		return (int)interpose_result(-EINVAL);
	if (old)
		timerfd_timer_show(timer, old);
	timerfd_kernel_set(fd, 0, &never);
	timer->expirations = 0;
	timer->is_armed = wanted->it_value.tv_sec || wanted->it_value.tv_nsec;
	timer->interval_ns = time_from_timespec(&wanted->it_interval);
	timer->deadline_ns = flags & TFD_TIMER_ABSTIME
				     ? runtime_deadline(timer->clock, &wanted->it_value)
				     : runtime_deadline_after(&wanted->it_value);
	(void)timer_fire_due();
	fd_changed();
	return 0;
}

EXPORT int timerfd_gettime(int fd, struct itimerspec *out)
{
	ENTER();
	const struct timer_descriptor *timer = timerfd_timer_of(fd);

	if (!timer)
		return (int)interpose_result(platform_call(SYS_timerfd_gettime, fd, out));
	timerfd_timer_show(timer, out);
	return 0;
}

void timerfd_was_read(int fd, const struct iovec *vector)
{
	struct timer_descriptor *timer = timerfd_timer_of(fd);

	if (!timer || vector[0].iov_len < sizeof timer->expirations)
		return;
	if (timer->is_armed && timer->deadline_ns <= engine_clock_ns())
		timerfd_timer_expire(timer, engine_clock_ns());
	memcpy(vector[0].iov_base, &timer->expirations, sizeof timer->expirations);
	timer->expirations = 0;
}

void timerfd_forget(int fd)
{
	struct timer_descriptor *timer = timerfd_timer_of(fd);

	if (!timer)
		return;
	*timer = (struct timer_descriptor){0};
	timers.used_count--;
}

/* The kernel's timer is shared with the parent, as natively; the virtual timers are forgotten. */
void timerfd_begin_child(void)
{
	memset(&timers, 0, sizeof timers);
}
