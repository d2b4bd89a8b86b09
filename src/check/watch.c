/*
 * Replaces the command's watchdog: a timer on the process's processor time, which sends SIGSYS
 * like all signals of the runtime (dispatch.c). A run without a step for a second may be
 * spinning, and other threads are scheduled. A run without a step for the whole time limit is
 * a hang.
 */
#include "runtime/runtime.h"
#include "runtime/spinning.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>

#include "check/check_internal.h"

#define TICK_NS 20000000
#define TICKS_BEFORE_LOOK 50

/* Written by watch_begin() and by the timer's handler. */
static struct {
	int timer;
	uint64_t ticks_before_hang;
	uint64_t idle_ticks; /* consecutive ticks without a step */
	uint64_t run, step;  /* values at the last tick */
} watch;

static void watch_tick(void *context)
{
	const greg_t *registers = ((const ucontext_t *)context)->uc_mcontext.gregs;

	if (!runtime.contract || runtime.is_forked_child || !engine_is_live() ||
		runtime.contract->run_number != watch.run || engine_step() != watch.step) {
		watch.idle_ticks = 0;
		watch.run = runtime.contract ? runtime.contract->run_number : 0;
		watch.step = engine_step();
		return;
	}
	watch.idle_ticks++;
	if (watch.idle_ticks >= watch.ticks_before_hang)
		runtime_hang(context);
	else if (watch.idle_ticks % TICKS_BEFORE_LOOK == 0)
		runtime_spin_look((uint64_t)registers[REG_RIP]);
}

void watch_begin(uint64_t hang_ns)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
		.sigev_signo = SIGSYS,
		.sigev_value.sival_ptr = (void *)(uintptr_t)watch_tick};
	struct itimerspec every = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};

	watch.idle_ticks = 0;
	watch.ticks_before_hang = hang_ns / TICK_NS + 1;
	if (platform_failed(platform_call(
		    SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &watch.timer)))
		return; /* hangs are not detected if no timer is available */
	runtime.watchdog = watch_tick;
	(void)platform_call(
		SYS_timer_settime, watch.timer, 0, &every, NULL); /* valid: cannot fail */
}

void watch_end(void)
{
	if (runtime.watchdog)
		(void)platform_call(SYS_timer_delete, watch.timer); /* the timer exists */
	runtime_spin_stop();
}
