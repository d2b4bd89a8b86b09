#include "worker/watchdog.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "process/children.h"

/* Interval of checks: short compared with any limit, long enough to cost nothing. */
#define LOOK_EVERY_NS UINT64_C(100000000)
/* Time that the runtime has to end the run: processor time, or real time if it gets no
 * processor. */
#define GRACE_PROCESSOR_NS UINT64_C(2000000000)
#define GRACE_NS UINT64_C(10000000000)
/* After this part of the limit the run continues at native speed, so that slow instrumentation is
 * not taken for a hang. */
#define NATIVE_PART 4
/* After this time the runtime checks whether a thread waits by reading memory. Few programs compute
 * for so long without a step. */
#define SPIN_NS UINT64_C(1000000000)

void watchdog_reset(struct watchdog *watchdog, uint64_t limit_ns)
{
	*watchdog = (struct watchdog){.limit_ns = limit_ns, .run_number = UINT64_MAX};
}

uint64_t watchdog_processor_ns(pid_t pid)
{
	struct timespec time;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0)
		return 0;
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns whether the process sleeps. A runnable process that waits for a processor does not. */
static bool watchdog_is_asleep(pid_t pid)
{
	char text[CHILDREN_STAT_BYTES];
	const char *state = children_read_stat(pid, text);

	return state && state[1] == ' ' && state[2] != 'R' && state[2] != 'Z' && state[2] != 'X';
}

static bool watchdog_has_moved(struct watchdog *watchdog, const struct contract *contract)
{
	uint64_t run = __atomic_load_n(&contract->run_number, __ATOMIC_RELAXED);
	uint64_t beat = __atomic_load_n(&contract->heartbeat, __ATOMIC_RELAXED);
	uint64_t runs = __atomic_load_n(&contract->totals.runs, __ATOMIC_RELAXED);

	if (run == watchdog->run_number && beat == watchdog->heartbeat && runs == watchdog->runs)
		return false;
	watchdog->run_number = run;
	watchdog->heartbeat = beat;
	watchdog->runs = runs;
	return true;
}

/* Returns whether the runtime has extended the limit, which is then measured from now on. */
static bool watchdog_is_extended(struct watchdog *watchdog, const struct contract *contract)
{
	uint32_t extensions = __atomic_load_n(&contract->hang_extensions, __ATOMIC_RELAXED);

	if (extensions == watchdog->extensions)
		return false;
	watchdog->extensions = extensions;
	return true;
}

static void watchdog_signal_stalled(
	struct watchdog *watchdog, pid_t pid, uint64_t processor_ns, uint64_t now_ns)
{
	uint64_t stalled_ns = processor_ns - watchdog->processor_ns;

	if (stalled_ns >= SPIN_NS && !watchdog->has_asked_spin) {
		watchdog->has_asked_spin = true;
		(void)sigqueue(pid, SIGSYS, (union sigval){.sival_int = CONTRACT_SIGNAL_SPIN});
	}
	if (!watchdog->limit_ns)
		return;
	if (stalled_ns >= watchdog->limit_ns / NATIVE_PART && !watchdog->has_asked_native) {
		watchdog->has_asked_native = true;
		(void)sigqueue(pid, SIGSYS, (union sigval){.sival_int = CONTRACT_SIGNAL_NATIVE});
		return;
	}
	if (watchdog->state == WATCHDOG_SILENT) {
		if (stalled_ns < watchdog->limit_ns && watchdog->asleep_ns < watchdog->limit_ns)
			return;
		/* Errors are ignored: the process may have ended. */
		(void)sigqueue(pid, SIGSYS, (union sigval){.sival_int = CONTRACT_SIGNAL_HANG});
		watchdog->state = WATCHDOG_ASKED;
		watchdog->asked_ns = now_ns;
		watchdog->processor_ns = processor_ns;
	} else if (watchdog->state == WATCHDOG_ASKED &&
		   (stalled_ns >= GRACE_PROCESSOR_NS || now_ns - watchdog->asked_ns >= GRACE_NS)) {
		watchdog->state = WATCHDOG_KILLED;
		(void)kill(pid, SIGKILL); /* the process may have ended */
	}
}

void watchdog_look(struct watchdog *watchdog, const struct contract *contract, uint64_t now_ns)
{
	pid_t pid = (pid_t)__atomic_load_n(&contract->guest_pid, __ATOMIC_RELAXED);
	uint64_t since_ns = now_ns - watchdog->checked_ns;
	uint64_t processor_ns;

	if (since_ns < LOOK_EVERY_NS || pid <= 0)
		return;
	watchdog->checked_ns = now_ns;
	/* Before the first thread creation there is no heartbeat: a start-up is no hang. */
	if (watchdog_has_moved(watchdog, contract) ||
		!__atomic_load_n(&contract->is_live, __ATOMIC_RELAXED) ||
		__atomic_load_n(&contract->is_waiting_outside, __ATOMIC_RELAXED)) {
		watchdog->state = WATCHDOG_SILENT;
		watchdog->has_asked_spin = watchdog->has_asked_native = false;
		watchdog->processor_ns = watchdog_processor_ns(pid);
		watchdog->asleep_ns = 0;
		return;
	}
	processor_ns = watchdog_processor_ns(pid);
	if (watchdog_is_extended(watchdog, contract)) {
		watchdog->state = WATCHDOG_SILENT;
		watchdog->processor_ns = processor_ns;
		watchdog->asleep_ns = 0;
	}
	/* a fork server has started another process, or the process has ended */
	if (processor_ns < watchdog->processor_ns)
		watchdog->processor_ns = processor_ns;
	/* A delay between two checks must not count as sleep of the guest. */
	if (watchdog_is_asleep(pid))
		watchdog->asleep_ns += since_ns < 2 * LOOK_EVERY_NS ? since_ns : LOOK_EVERY_NS;
	watchdog_signal_stalled(watchdog, pid, processor_ns, now_ns);
}
