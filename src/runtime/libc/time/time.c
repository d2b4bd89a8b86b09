/* The target's clocks. Virtual time starts at 0 and advances when no thread is enabled, and a
 * little at each reading. Each clock of the system is virtual time plus a fixed offset, so a run
 * shows the same times in every process. Runs in the moving thread; signal handlers may call the
 * readers. */
#include <sys/time.h>
#include <sys/times.h>
#include <sys/syscall.h>
#include <time.h>

#include "runtime/interpose.h"
#include "base/hot_state.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

/* CLOCK_REALTIME at the start: 2025-06-15 15:06:40 UTC. Recent enough for certificate checks, and
 * earlier than the real time: files created meanwhile are never older than the start. */
#define REALTIME_START_NS (UINT64_C(1750000000) * NS_PER_SECOND)
/* One day of uptime, so that "now - 1 h" does not wrap. */
#define MONOTONIC_START_NS (UINT64_C(86400) * NS_PER_SECOND)
/* A process has used some time before its first reading. */
#define PROCESSOR_START_NS UINT64_C(1000000)

/* Readings without a step after which the thread is considered to wait for time, and yields. */
#define READS_BEFORE_YIELD 16
/* The time that a reading adds doubles after this many yields in succession. */
#define YIELDS_PER_DOUBLING 8
#define SPIN_STEP_NS UINT64_C(100)
#define SPIN_DOUBLINGS_MAX 20
/* Fruitless waits (yields and tests for cancellation) between checks whether time may pass. */
#define POLLS_PER_LOOK 8

static HOT_STATE struct {
	uint64_t origin_real_ns;    /* real clock when the virtual clock ... */
	uint64_t origin_virtual_ns; /* ... had this value; used only with real time */
	bool has_origin;
	uint64_t processor_begin_ns; /* virtual time when this process began */
	uint64_t step;		     /* engine's step at the last reading */
	uint32_t reads;		     /* readings since that step */
	uint64_t streak_step;	     /* before the current streak of yields */
	uint64_t streak_yields;	     /* yields without another operation */
	uint64_t failed_looks;
	/* distance by which the target has set CLOCK_REALTIME forward, modulo 2^64 */
	uint64_t realtime_set_ns;
} clocks;

bool time_is_virtual(void)
{
	return runtime.has_virtual_time;
}

static void time_set_origin(void)
{
	clocks.origin_real_ns = platform_monotonic_ns();
	clocks.origin_virtual_ns = engine_clock_ns();
	clocks.has_origin = true;
}

void time_begin_child(void)
{
	clocks.processor_begin_ns = engine_clock_ns();
}

uint64_t time_now_ns(void)
{
	runtime_note_feature(FEATURE_CLOCK);
	if (!time_is_virtual()) {
		if (!clocks.has_origin)
			time_set_origin();
		engine_clock_advance_to(
			clocks.origin_virtual_ns + platform_monotonic_ns() - clocks.origin_real_ns);
	}
	return engine_clock_ns();
}

bool time_is_valid(const struct timespec *time)
{
	return time->tv_nsec >= 0 && time->tv_nsec < (long)NS_PER_SECOND;
}

uint64_t time_from_timespec(const struct timespec *time)
{
	if (time->tv_sec < 0)
		return 0;
	if ((uint64_t)time->tv_sec >= ENGINE_FOREVER / NS_PER_SECOND)
		return ENGINE_FOREVER - 1;
	return (uint64_t)time->tv_sec * NS_PER_SECOND + (uint64_t)time->tv_nsec;
}

struct timespec time_to_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NS_PER_SECOND), .tv_nsec = (long)(ns % NS_PER_SECOND)};
}

uint64_t time_after(uint64_t ns)
{
	uint64_t now = time_now_ns();

	return ns < ENGINE_FOREVER - 1 - now ? now + ns : ENGINE_FOREVER - 1;
}

static bool time_has_thread(int kernel_id)
{
	for (uint32_t i = 0; i < engine_thread_count(); i++)
		if (engine_thread(i)->state == THREAD_ALIVE &&
			engine_thread(i)->kernel_id == kernel_id)
			return true;
	return false;
}

/* Returns whether this is a clock of this process or one of its threads; see
 * clock_getcpuclockid(3). */
static bool time_is_own_processor_clock(clockid_t clock)
{
	const int owner = ~(clock >> 3);

	if (clock >= 0 || (clock & 3) == 3) /* 3: a device's clock, or an invalid one */
		return false;
	return !owner || (clock & 4 ? time_has_thread(owner) : owner == platform_call(SYS_getpid));
}

/* Finds a clock's value at virtual time 0, modulo 2^64. Returns false if the clock is not
 * virtual. */
static bool time_clock_start(clockid_t clock, uint64_t *start)
{
	switch (clock) {
	case CLOCK_REALTIME:
	case CLOCK_REALTIME_COARSE:
	case CLOCK_REALTIME_ALARM:
	case CLOCK_TAI:
		*start = REALTIME_START_NS + clocks.realtime_set_ns;
		return true;
	case CLOCK_MONOTONIC:
	case CLOCK_MONOTONIC_RAW:
	case CLOCK_MONOTONIC_COARSE:
	case CLOCK_BOOTTIME:
	case CLOCK_BOOTTIME_ALARM:
		*start = MONOTONIC_START_NS;
		return true;
	case CLOCK_PROCESS_CPUTIME_ID:
	case CLOCK_THREAD_CPUTIME_ID:
		*start = PROCESSOR_START_NS - clocks.processor_begin_ns;
		return true;
	default:
		*start = PROCESSOR_START_NS - clocks.processor_begin_ns;
		return time_is_own_processor_clock(clock);
	}
}

void time_set_realtime(const struct timespec *wanted)
{
	clocks.realtime_set_ns = time_from_timespec(wanted) - time_now_ns() - REALTIME_START_NS;
}

static long time_read_real(clockid_t clock, struct timespec *time)
{
	return platform_call(SYS_clock_gettime, clock, time);
}

uint64_t runtime_deadline(int clock_id, const struct timespec *absolute)
{
	uint64_t wanted = time_from_timespec(absolute);
	uint64_t start;
	struct timespec real;

	runtime_note_feature(FEATURE_CLOCK);
	if (!runtime.has_virtual_time) {
		if (platform_failed(time_read_real(clock_id, &real)))
			return time_now_ns();
		start = time_from_timespec(&real);
		return wanted > start ? time_after(wanted - start) : time_now_ns();
	}
	if (!time_clock_start(clock_id, &start))
		start = MONOTONIC_START_NS;
	return wanted > start || (int64_t)start < 0 ? wanted - start : 0;
}

uint64_t runtime_deadline_after(const struct timespec *relative)
{
	return time_after(time_from_timespec(relative));
}

/* Returns whether all steps since the streak began were yields. */
static bool time_is_streak(void)
{
	return clocks.streak_yields && engine_step() == clocks.streak_step + clocks.streak_yields;
}

void runtime_waits_forever(void)
{
	if (++clocks.failed_looks % POLLS_PER_LOOK || !time_is_virtual() || outside_look())
		return;
	engine_delay_current();
	engine_clock_note_poll();
}

void runtime_yield(uint64_t site)
{
	if (!engine_is_live()) {
		if (runtime.has_forked) /* lets other processes run */
			(void)platform_call(SYS_sched_yield);
		return;
	}
	if (!engine_yields_freely())
		runtime_waits_forever();
	/* Virtual time must not run ahead of a thread that waits for the outside world. */
	if (!time_is_streak() || outside_look()) {
		clocks.streak_step = engine_step();
		clocks.streak_yields = 0;
	}
	clocks.streak_yields++;
	engine_point(OP_YIELD, NULL, site);
}

/* A thread that reads the clock repeatedly waits for time, or for a thread with a time limit. It
 * yields now and then; in a streak of yields, time runs faster. */
static void time_note_read(void)
{
	uint64_t doublings;

	if (!engine_is_live())
		return;
	if (clocks.step != engine_step()) {
		clocks.step = engine_step();
		clocks.reads = 0;
	}
	if (++clocks.reads >= READS_BEFORE_YIELD)
		runtime_yield(0);
	if (!time_is_virtual() || !time_is_streak())
		return;
	doublings = clocks.streak_yields / YIELDS_PER_DOUBLING;
	if (doublings > SPIN_DOUBLINGS_MAX)
		doublings = SPIN_DOUBLINGS_MAX;
	if (doublings)
		engine_clock_advance_to(engine_clock_ns() + (SPIN_STEP_NS << doublings));
}

bool time_read(clockid_t clock, uint64_t *ns)
{
	uint64_t start;

	runtime_note_feature(FEATURE_CLOCK);
	if (!runtime.has_virtual_time || !time_clock_start(clock, &start)) {
		struct timespec real;

		time_note_read();
		if (platform_failed(time_read_real(clock, &real)))
			return false;
		*ns = time_from_timespec(&real);
		return true;
	}
	time_note_read();
	*ns = start + (time_is_virtual() ? engine_clock_read_ns() : time_now_ns());
	/* A thread that polls the clock for a handler may reach no other delivery point. */
	if (timer_fire_due())
		(void)signals_deliver_now();
	return true;
}

EXPORT int clock_gettime(clockid_t clock, struct timespec *time)
{
	uint64_t ns;

	ENTER();
	if (!time_read(clock, &ns)) {
		errno = EINVAL;
		return -1;
	}
	*time = time_to_timespec(ns);
	return 0;
}

EXPORT int gettimeofday(struct timeval *restrict time, void *restrict zone)
{
	uint64_t ns;

	ENTER();
	if (zone)
		*(struct timezone *)zone = (struct timezone){0};
	if (time_read(CLOCK_REALTIME, &ns))
		*time = (struct timeval){.tv_sec = (time_t)(ns / NS_PER_SECOND),
			.tv_usec = (suseconds_t)(ns % NS_PER_SECOND / 1000)};
	return 0;
}

EXPORT time_t time(time_t *out)
{
	uint64_t ns = 0;
	time_t seconds;

	ENTER();
	(void)time_read(CLOCK_REALTIME, &ns);
	seconds = (time_t)(ns / NS_PER_SECOND);
	if (out)
		*out = seconds;
	return seconds;
}

EXPORT int timespec_get(struct timespec *time, int base)
{
	uint64_t ns;

	ENTER();
	if (base != TIME_UTC || !time_read(CLOCK_REALTIME, &ns))
		return 0;
	*time = time_to_timespec(ns);
	return base;
}

EXPORT clock_t clock(void)
{
	uint64_t ns;

	ENTER();
	if (!time_read(CLOCK_PROCESS_CPUTIME_ID, &ns))
		return -1;
	return (clock_t)(ns / (NS_PER_SECOND / CLOCKS_PER_SEC));
}

EXPORT clock_t times(struct tms *out)
{
	const uint64_t tick_ns = NS_PER_SECOND / 100; /* USER_HZ, fixed by the kernel's interface */
	uint64_t processor_ns;
	uint64_t elapsed_ns;

	ENTER();
	if (!runtime.has_virtual_time)
		return interpose_result(platform_call(SYS_times, out));
	(void)time_read(CLOCK_PROCESS_CPUTIME_ID, &processor_ns);
	(void)time_read(CLOCK_MONOTONIC, &elapsed_ns);
	if (out)
		*out = (struct tms){.tms_utime = (clock_t)(processor_ns / tick_ns)};
	return (clock_t)(elapsed_ns / tick_ns);
}

bool runtime_emulate_time(long number, const long arguments[6], long *result)
{
	uint64_t ns;

	if (!runtime.has_virtual_time)
		return false;
	switch (number) {
	case SYS_clock_gettime:
		if (!time_read((clockid_t)arguments[0], &ns))
			return false;
		*(struct timespec *)arguments[1] = time_to_timespec(ns);
		*result = 0;
		return true;
	case SYS_gettimeofday:
		*result = gettimeofday((struct timeval *)arguments[0], (void *)arguments[1]);
		return true;
	case SYS_time:
		*result = time((time_t *)arguments[0]);
		return true;
	case SYS_times:
		*result = times((struct tms *)arguments[0]);
		return true;
	default:
		return time_emulate_setting(number, arguments, result);
	}
}
