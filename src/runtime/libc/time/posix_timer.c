/* timer_create() and related functions, on the engine's clock; the kernel has no timer to undo. A
 * timer that sends a signal fires when the clock reaches its deadline. A timer that calls a
 * function has a thread of its own, which sleeps until the deadline. Expirations are detected when
 * all threads are blocked, and when the clock is read. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/signals.h"
#include "runtime/libc/thread_ids.h"
#include "runtime/libc/world.h"

#define TIMERS_MAX 64

struct posix_timer {
	bool is_used;
	bool is_armed;
	int notify;
	int signal;
	int overrun;	/* expirations that the last notification stands for, minus one */
	pid_t receiver; /* SIGEV_THREAD_ID */
	clockid_t clock;
	union sigval value;
	void (*function)(union sigval);
	uint64_t deadline_ns;
	uint64_t interval_ns;
	uint64_t fired_ns;   /* time of the last notification; 0: none since the timer was set */
	uint32_t life;	     /* grows with each use of the entry */
	uint32_t generation; /* grows with each setting, which wakes the timer's thread */
};

static struct {
	struct posix_timer entries[TIMERS_MAX];
	uint32_t used_count; /* usually 0, so that reading the clock costs nothing */
} timers;

static struct posix_timer *posix_timer_timer_of(timer_t id)
{
	uintptr_t index = (uintptr_t)id - 1;

	return index < TIMERS_MAX && timers.entries[index].is_used ? &timers.entries[index] : NULL;
}

static uint64_t posix_timer_timer_wake_ns(const struct posix_timer *timer)
{
	return timer_no_sooner(timer->deadline_ns, timer->fired_ns, timer->interval_ns);
}

/* Returns the number of missed expirations. */
static int posix_timer_advance(struct posix_timer *timer, uint64_t now_ns)
{
	uint64_t missed;

	timer->fired_ns = now_ns;

	if (!timer->interval_ns) {
		timer->is_armed = false;
		return 0;
	}
	missed = (now_ns - timer->deadline_ns) / timer->interval_ns;
	timer->deadline_ns += (missed + 1) * timer->interval_ns;
	return missed < INT32_MAX ? (int)missed : INT32_MAX;
}

static bool posix_timer_is_silent(const struct posix_timer *timer)
{
	return !timer->is_armed || timer->notify == SIGEV_THREAD;
}

/* Returns true if no thread can observe the expiration, and no wait ends by it. */
static bool posix_timer_only_counts(const struct posix_timer *timer)
{
	return timer->notify == SIGEV_NONE || signal_is_ignored(timer->signal) ||
	       signals_pending_of_timer(timer->signal, (int)(timer - timers.entries));
}

uint64_t posix_timer_next_ns(void)
{
	uint64_t next_ns = ENGINE_FOREVER;

	for (int i = 0; timers.used_count && i < TIMERS_MAX; i++)
		if (!posix_timer_is_silent(&timers.entries[i]) &&
			posix_timer_timer_wake_ns(&timers.entries[i]) < next_ns &&
			!posix_timer_only_counts(&timers.entries[i]))
			next_ns = posix_timer_timer_wake_ns(&timers.entries[i]);
	return next_ns;
}

static struct engine_thread *posix_timer_receiver(const struct posix_timer *timer)
{
	return timer->notify == SIGEV_THREAD_ID ? thread_of_id(timer->receiver) : NULL;
}

/* Counts expirations into the timer's pending signal. A timer has at most one; later expirations
 * add to its overrun count. */
static void posix_timer_count_into(struct posix_timer *timer, siginfo_t *pending, uint64_t now_ns)
{
	int64_t overrun;

	if (!timer->is_armed || timer->deadline_ns > now_ns)
		return;
	overrun = pending->si_overrun + INT64_C(1) + posix_timer_advance(timer, now_ns);
	timer->overrun = pending->si_overrun = overrun < INT32_MAX ? (int)overrun : INT32_MAX;
}

void posix_timer_was_taken(siginfo_t *information)
{
	struct posix_timer *timer = &timers.entries[information->si_timerid % TIMERS_MAX];

	if (timer->is_used && !posix_timer_is_silent(timer))
		posix_timer_count_into(timer, information, engine_clock_ns());
}

bool posix_timer_fire_due(uint64_t now_ns)
{
	bool has_fired = false;

	for (int i = 0; timers.used_count && i < TIMERS_MAX; i++) {
		struct posix_timer *timer = &timers.entries[i];
		siginfo_t information = {.si_signo = timer->signal, .si_code = SI_TIMER};
		siginfo_t *pending;
		int missed;

		if (posix_timer_is_silent(timer) || posix_timer_timer_wake_ns(timer) > now_ns)
			continue;
		pending = signals_pending_of_timer(timer->signal, i);
		if (pending) {
			posix_timer_count_into(timer, pending, now_ns);
			continue;
		}
		missed = posix_timer_advance(timer, now_ns);
		if (timer->notify == SIGEV_NONE)
			continue;
		timer->overrun = missed;
		information.si_timerid = i;
		information.si_overrun = timer->overrun;
		information.si_value = timer->value;
		signals_raise(posix_timer_receiver(timer), &information);
		has_fired = true;
	}
	return has_fired;
}

static bool posix_timer_is_set_anew(const struct engine_op *op, const struct engine_thread *thread)
{
	(void)thread;
	return ((const struct posix_timer *)op->address)->generation != op->argument;
}

static void *posix_timer_thread(void *argument)
{
	struct posix_timer *timer = argument;
	uint32_t life = timer->life;

	engine_current()->signals_blocked =
		~UINT64_C(0); /* handlers belong to the target's threads */
	while (timer->is_used && timer->life == life) {
		struct engine_op op = {.kind = OP_SLEEP,
			.address = timer,
			.ready = posix_timer_is_set_anew,
			.deadline_ns =
				timer->is_armed ? posix_timer_timer_wake_ns(timer) : ENGINE_FOREVER,
			.argument = timer->generation};

		if (engine_perform(&op) != WAIT_TIMED_OUT)
			continue;
		timer->overrun = posix_timer_advance(timer, time_now_ns());
		timer->function(timer->value);
	}
	return NULL;
}

static bool posix_timer_can_be(clockid_t clock, const struct sigevent *event)
{
	struct timespec time;

	if (clock_gettime(clock, &time))
		return false;
	if (!event || event->sigev_notify == SIGEV_NONE || event->sigev_notify == SIGEV_THREAD)
		return true;
	return (event->sigev_notify == SIGEV_SIGNAL || event->sigev_notify == SIGEV_THREAD_ID) &&
	       event->sigev_signo > 0 && event->sigev_signo < NSIG;
}

static void posix_timer_begin(
	struct posix_timer *timer, clockid_t clock, const struct sigevent *event)
{
	uint32_t life = timer->life + 1;
	uint32_t generation = timer->generation + 1;

	*timer = (struct posix_timer){.is_used = true,
		.notify = SIGEV_SIGNAL,
		.signal = SIGALRM,
		.clock = clock,
		.life = life,
		.generation = generation};
	if (!event) {
		timer->value.sival_ptr = (void *)(timer - timers.entries + 1);
		return;
	}
	timer->notify = event->sigev_notify;
	timer->signal = event->sigev_signo;
	timer->value = event->sigev_value;
	timer->function = event->sigev_notify_function;
	timer->receiver = event->_sigev_un._tid;
}

EXPORT int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict out)
{
	struct posix_timer *timer = timers.entries;
	int error;

	ENTER();
	if (!posix_timer_can_be(clock, event))
		return (int)interpose_result(-EINVAL);
	while (timer < timers.entries + TIMERS_MAX && timer->is_used)
		timer++;
	if (timer == timers.entries + TIMERS_MAX)
		return (int)interpose_result(-EAGAIN);
	posix_timer_begin(timer, clock, event);
	error = timer->notify == SIGEV_THREAD
			? runtime_start_detached(
				  event->sigev_notify_attributes, posix_timer_thread, timer)
			: 0;
	if (error) {
		timer->is_used = false;
		return (int)interpose_result(-EAGAIN);
	}
	timers.used_count++;
	*out = (timer_t)(uintptr_t)(timer - timers.entries + 1);
	return 0;
}

EXPORT int timer_delete(timer_t id)
{
	ENTER();
	struct posix_timer *timer = posix_timer_timer_of(id);

	if (!timer)
		return (int)interpose_result(-EINVAL);
	timer->is_used = timer->is_armed = false;
	timers.used_count--;
	timer->generation++;
	engine_changed(timer);
	return 0;
}

static void posix_timer_timer_show(const struct posix_timer *timer, struct itimerspec *out)
{
	uint64_t now_ns = time_now_ns();
	uint64_t left_ns = timer->deadline_ns > now_ns ? timer->deadline_ns - now_ns : 1;

	*out = (struct itimerspec){.it_interval = time_to_timespec(timer->interval_ns)};
	if (timer->is_armed)
		out->it_value = time_to_timespec(left_ns);
}

EXPORT int timer_gettime(timer_t id, struct itimerspec *out)
{
	ENTER();
	const struct posix_timer *timer = posix_timer_timer_of(id);

	if (!timer)
		return (int)interpose_result(-EINVAL);
	posix_timer_timer_show(timer, out);
	return 0;
}

EXPORT int timer_settime(timer_t id, int flags, const struct itimerspec *restrict wanted,
	struct itimerspec *restrict old)
{
	ENTER();
	struct posix_timer *timer = posix_timer_timer_of(id);

	if (!timer || !time_is_valid(&wanted->it_value) || !time_is_valid(&wanted->it_interval) ||
		wanted->it_value.tv_sec < 0 || wanted->it_interval.tv_sec < 0)
		return (int)interpose_result(-EINVAL);
	if (old)
		posix_timer_timer_show(timer, old);
	timer->is_armed = wanted->it_value.tv_sec || wanted->it_value.tv_nsec;
	timer->interval_ns = time_from_timespec(&wanted->it_interval);
	timer->deadline_ns = flags & TIMER_ABSTIME
				     ? runtime_deadline(timer->clock, &wanted->it_value)
				     : runtime_deadline_after(&wanted->it_value);
	timer->overrun = 0;
	timer->fired_ns = 0;
	timer->generation++;
	engine_changed(timer);
	return 0;
}

EXPORT int timer_getoverrun(timer_t id)
{
	ENTER();
	const struct posix_timer *timer = posix_timer_timer_of(id);

	return timer ? timer->overrun : (int)interpose_result(-EINVAL);
}

void posix_timer_begin_child(void)
{
	memset(&timers, 0, sizeof timers);
}
