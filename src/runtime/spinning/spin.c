/*
 * Spinning threads that reach no scheduling point, such as in code without sites. Only one thread
 * moves at a time: the value that such a thread waits for cannot change. When a run makes no step
 * for a second of processor time, the command asks the runtime to check for spinning. A timer on
 * processor time then ticks; after several ticks without a step, other threads are scheduled
 * (engine_spin_point). Programs without spinning pay nothing.
 *
 * The detection depends on real time and is a fallback for liveness: only a second without a step
 * counts as spinning. A location where a thread has spun once is trusted at the next tick.
 *
 * The command's request and the timer arrive as SIGSYS (dispatch.c), in the moving thread.
 */
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/hot_state.h"
#include "runtime/interpose.h"
#include "runtime/memory.h"
#include "runtime/quick.h"
#include "runtime/record.h"
#include "runtime/runtime.h"
#include "runtime/spinning.h"
#include "runtime/sites.h"

#define TICK_NS 20000000
/* Number of ticks without a step that count as spinning. Compression programs compute for half a
 * second between two locks. */
#define TICKS_BEFORE_SPIN 50
/* Code addresses within this distance belong to one loop. */
#define LOOP_BYTES 512

/* The runtime's own code, from the linker. A tick inside of it is handled later. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

/* Written when a run creates the timer, at most once per process. */
static int spin_timer;

void runtime_spin_watch(void)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGSYS};
	struct itimerspec every = {.it_interval.tv_nsec = TICK_NS, .it_value.tv_nsec = TICK_NS};
	struct contract_spin *spin = &runtime.contract->spin;
	uint32_t process;
	int timer;

	if (!spin->is_needed)
		return;
	process = (uint32_t)platform_call(SYS_getpid);
	if (spin->is_watched == process)
		return;
	spin->idle_ticks = 0;
	if (platform_failed(
		    platform_call(SYS_timer_create, CLOCK_PROCESS_CPUTIME_ID, &event, &timer)))
		return; /* spinning ends as a hang if no timer is available */
	(void)platform_call(SYS_timer_settime, timer, 0, &every, NULL);
	spin->is_watched = process;
	spin_timer = timer;
}

void runtime_spin_stop(void)
{
	struct contract_spin *spin = &runtime.contract->spin;

	if (spin->is_watched == (uint32_t)platform_call(SYS_getpid))
		(void)platform_call(SYS_timer_delete, spin_timer);
	spin->is_watched = 0;
}

static bool spin_is_known(const struct contract_spin *spin, uint64_t site)
{
	for (uint32_t i = 0; i < spin->loop_count; i++)
		if (site - spin->loops[i] + LOOP_BYTES < 2 * LOOP_BYTES)
			return true;
	return false;
}

static bool spin_is_own_code(uint64_t site)
{
	return site >= (uint64_t)(uintptr_t)__ehdr_start && site < (uint64_t)(uintptr_t)etext;
}

/* Remembers the loop and lets other threads run, now or at the next access. */
static void spin_found(struct contract_spin *spin, uint64_t site, bool is_own_code)
{
	uintptr_t start, end;

	if (!sites_find_code((uintptr_t)site, &start, &end))
		spin->is_unseen = 1;
	if (!spin_is_known(spin, site) &&
		spin->loop_count < sizeof spin->loops / sizeof *spin->loops)
		spin->loops[spin->loop_count++] = site;
	spin->idle_ticks = 0;
	if (is_own_code)
		memory_give_turn();
	else
		engine_spin_point(site);
	/* A loop that only computes may reach no other cancellation point. */
	if (!is_own_code)
		runtime_test_cancel_anywhere();
}

/* Returns the address of the spinning loop. Most ticks in loops with instrumented accesses
 * interrupt the runtime itself: the result is then the site of the last access. 0: unknown. */
static uint64_t spin_site(uint64_t site, bool *is_own_code)
{
	*is_own_code = spin_is_own_code(site);
	return *is_own_code ? memory_last_site() : site;
}

/* True: the next interposed call enters runtime_spin_enter(). Restored with the run. */
static HOT_STATE struct {
	bool is_awaited;
	bool was_up; /* value of runtime_is_up before the wait */
} next_call;

/* Makes the thread yield at its next interposed call, because ticks interrupt the runtime
 * itself. */
static void spin_wait_for_call(void)
{
	if (!next_call.is_awaited)
		next_call.was_up = runtime_is_up;
	next_call.is_awaited = true;
	runtime_is_up = false;
}

/* Current stretch without a step; restored with the run. */
static HOT_STATE struct {
	uint64_t step; /* step number + 1 */
	uint32_t extensions;
	/* value of sites_are_live before the sites were turned off; 0: the sites are on */
	uint8_t sites_before;
} stretch;

static void spin_begin_stretch(void)
{
	if (stretch.step == engine_step() + 1)
		return;
	stretch.step = engine_step() + 1;
	stretch.extensions = 0;
}

static void spin_extend(void)
{
	__atomic_add_fetch(&runtime.contract->hang_extensions, 1, __ATOMIC_RELAXED);
}

void runtime_run_natively(void)
{
	if (!runtime.contract || runtime.is_forked_child || record_is_on() || !sites_are_live)
		return;
	spin_begin_stretch();
	if (!sites_turn_off())
		return;
	stretch.sites_before = sites_are_live;
	sites_are_live = SITES_OFF;
	sites_memory()->must_switch = true; /* the run may end before the next operation */
	engine_raise_attention(); /* makes the next operation call runtime_run_controlled() */
	spin_extend();
}

void runtime_run_controlled(void)
{
	const struct engine_op *op = engine_current()->op;

	if (!stretch.sites_before)
		return;
	if (op && op->kind == OP_SPIN) { /* the next thread may be computing, too */
		engine_raise_attention();
		return;
	}
	if (sites_are_live == SITES_OFF)
		sites_are_live = stretch.sites_before;
	stretch.sites_before = 0;
	(void)sites_apply(); /* if it fails, the contract has the reason */
	quick_forget_all();
}

bool runtime_hang_is_doubtful(void)
{
	if (!runtime.contract || runtime.is_forked_child)
		return false;
	spin_begin_stretch();
	if (stretch.extensions >= engine_enabled_count())
		return false;
	stretch.extensions++;
	spin_extend();
	return true;
}

void runtime_spin_enter(uint64_t site)
{
	struct contract_spin *spin;

	if (!next_call.is_awaited)
		return;
	next_call.is_awaited = false;
	runtime_is_up = next_call.was_up;
	if (!runtime.contract || runtime.is_forked_child || !engine_is_live())
		return;
	spin = &runtime.contract->spin;
	if (spin->idle_ticks >= TICKS_BEFORE_SPIN || spin_is_known(spin, site))
		spin_found(spin, site, false);
}

void runtime_spin_look(uint64_t site)
{
	struct contract_spin *spin;
	bool is_own_code;

	if (!runtime.contract || runtime.is_forked_child)
		return;
	spin = &runtime.contract->spin;
	spin->is_needed = 1;
	runtime_spin_watch();
	site = spin_site(site, &is_own_code);
	if (site) {
		spin_found(spin, site, is_own_code);
		return;
	}
	spin->idle_ticks = TICKS_BEFORE_SPIN;
	spin_wait_for_call();
}

void runtime_spin_tick(uint64_t site)
{
	struct contract_spin *spin;
	uint64_t step = engine_step();
	bool is_own_code;

	if (!runtime.contract) /* this tick was pending */
		return;
	spin = &runtime.contract->spin;
	if (step != spin->last_step) {
		spin->last_step = step;
		spin->idle_ticks = 0;
		return;
	}
	site = spin_site(site, &is_own_code);
	if (!site) {
		spin->idle_ticks++;
		spin_wait_for_call();
		return;
	}
	if (++spin->idle_ticks >= TICKS_BEFORE_SPIN || spin_is_known(spin, site))
		spin_found(spin, site, is_own_code);
}
