/* Waits for the outside world: no thread is enabled, and an event outside of the process may enable
 * one. One poll() serves all threads. Runs in the thread that made the last scheduling decision. */
#include <poll.h>
#include <sys/syscall.h>

#include "runtime/libc/family.h"
#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

#define OUTSIDE_POLLS_MAX 1024
/* Interval of checks for events that poll() cannot report: file locks, stopped children. */
#define SLICE_NS UINT64_C(10000000)
/* Interval of checks of objects that processes share. */
#define SHARED_SLICE_NS UINT64_C(200000)
/* Interval of checks for bytes that TCP still holds back. */
#define OWN_SLICE_NS UINT64_C(1000000)
/* Pause after a wait that ended although it enabled no thread. */
#define PAUSE_NS UINT64_C(1000000)

/* Filled and used within one call. */
static struct {
	struct pollfd polls[OUTSIDE_POLLS_MAX + CHILDREN_MAX];
	uint32_t poll_count;
	bool has_external; /* another process can make a waited-for descriptor ready */
	bool has_own;	   /* only a connection of this process, or a new one, can do so */
	bool has_undelivered; /* such a connection had bytes under way before the descriptors were polled */
	bool has_family; /* a process of the family can do so */
	bool has_child;
	bool has_signal;
	bool has_signalfd;     /* a thread waits for a signal by a descriptor */
	bool has_shared;       /* a thread waits for an object that another process can change */
	bool needs_slices;     /* a wait that poll() cannot observe */
	uint32_t failed_tries; /* consecutive failures */
	uint64_t failed_step;
	uint64_t woken_period; /* engine_idle_period() when a descriptor last ended a wait */
	/* Used while other members of the process family run. */
	uint64_t slice_ns;    /* length of each sleep; 0: no limit */
	bool is_clock_still;  /* virtual time stands still during this wait */
	uint64_t idle_period; /* the period that began at idle_real_ns */
	uint64_t idle_real_ns;
} outside;

static void outside_add(int fd, short events)
{
	if (fd < 0)
		return;
	if (fd_is_of_signals(fd)) {
		outside.has_signal = outside.has_signalfd = true;
	} else if (!fd_is_internal(fd) && !fd_is_of_family(fd)) {
		outside.has_own |= loopback_is_own(fd);
		outside.has_external |= !loopback_is_own(fd);
	}
	outside.has_family |= fd_is_of_family(fd);
	if (outside.poll_count == OUTSIDE_POLLS_MAX) {
		outside.needs_slices = true;
		return;
	}
	outside.polls[outside.poll_count++] = (struct pollfd){.fd = fd, .events = events};
}

static void outside_add_sets(const struct fd_request *request)
{
	static const short events[3] = {POLLIN, POLLOUT, POLLPRI};

	for (int fd = 0; fd < (int)request->count; fd++)
		for (int i = 0; i < 3; i++)
			if (request->sets[i] && FD_ISSET(fd, request->sets[i]))
				outside_add(fd, events[i]);
}

static void outside_add_request(const struct fd_request *request)
{
	switch ((enum fd_shape)request->shape) {
	case FD_SHAPE_ONE:
		outside_add(request->fd, request->events);
		break;
	case FD_SHAPE_POLL:
		for (uint64_t i = 0; i < request->count; i++)
			outside_add(request->polls[i].fd, request->polls[i].events);
		break;
	case FD_SHAPE_SELECT:
		outside_add_sets(request);
		break;
	case FD_SHAPE_RETRY:
		outside.needs_slices = outside.has_external = true;
		break;
	}
}

static void outside_collect(void)
{
	outside.poll_count = 0;
	outside.has_external = outside.has_family = outside.has_child = outside.has_signal =
		outside.has_signalfd = outside.needs_slices = outside.has_shared = outside.has_own =
			false;
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		const struct engine_op *op = engine_thread(i)->op;

		if (!op)
			continue;
		outside.has_shared |= op->is_shared;
		switch (op->kind) {
		case OP_FD_READ:
		case OP_FD_WRITE:
		case OP_FD_POLL:
			if (op->argument)
				outside_add_request(
					(const struct fd_request *)(uintptr_t)op->argument);
			break;
		case OP_CHILD_WAIT:
			outside.has_child = true;
			break;
		case OP_SIGNAL_WAIT:
			outside.has_signal = true;
			break;
		default:
			break;
		}
	}
}

/* Adds descriptors that become ready when a child ends. Returns where they start. */
static uint32_t outside_add_children(const int *pids, uint32_t count)
{
	uint32_t first = outside.poll_count;

	for (uint32_t i = 0; i < count; i++) {
		long fd = pids[i] ? platform_call(SYS_pidfd_open, pids[i], 0) : -ESRCH;

		if (platform_failed(fd)) {
			outside.needs_slices = true;
			continue;
		}
		outside.polls[outside.poll_count++] =
			(struct pollfd){.fd = (int)fd, .events = POLLIN};
	}
	return first;
}

/* Signals are unblocked only during the sleep, so none is missed before it. */
static long outside_sleep(uint64_t limit_ns)
{
	struct timespec time = time_to_timespec(limit_ns);
	uint64_t all = ~UINT64_C(0);
	uint64_t open = 0;
	long result = -EINTR;

	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &all, &open, sizeof all);
	if (!signals_arrived())
		result = platform_call(SYS_ppoll, outside.polls, outside.poll_count,
			limit_ns == ENGINE_FOREVER ? NULL : &time, &open, sizeof open);
	(void)platform_call(SYS_rt_sigprocmask, SIG_SETMASK, &open, NULL, sizeof open);
	return result;
}

/* Returns the longest duration of the next sleep. */
static uint64_t outside_sleep_ns(uint64_t limit_ns, uint64_t start_ns)
{
	uint64_t sleep_ns = limit_ns == ENGINE_FOREVER ? limit_ns : 0;

	/* A real clock may have passed the limit since the caller compared them. */
	if (!sleep_ns && limit_ns > start_ns)
		sleep_ns = limit_ns - start_ns;
	if (runtime.executor && !runtime.executor->can_clone)
		outside.needs_slices = true; /* signals may reach another kernel thread */
	/* Another worker's run may end meanwhile: outside_signal_is_possible() */
	if ((outside.needs_slices || outside.has_signal) && sleep_ns > SLICE_NS)
		sleep_ns = SLICE_NS;
	if (outside.slice_ns && sleep_ns > outside.slice_ns)
		sleep_ns = outside.slice_ns;
	if (outside.has_own && limit_ns != ENGINE_FOREVER && sleep_ns > OWN_SLICE_NS)
		sleep_ns = OWN_SLICE_NS;
	if (outside.has_shared && sleep_ns > SHARED_SLICE_NS)
		sleep_ns = SHARED_SLICE_NS;
	return sleep_ns;
}

/* `limit_ns`: on the engine's clock, which is updated afterwards unless it stands still. */
static void outside_wait_until(uint64_t limit_ns, const int *pids, uint32_t child_count)
{
	uint64_t start_ns = time_now_ns();
	uint64_t real_start_ns = platform_monotonic_ns();
	uint64_t sleep_ns = outside_sleep_ns(limit_ns, start_ns);
	uint32_t first = outside_add_children(pids, child_count);
	uint64_t passed_ns;
	long result;

	runtime_mark_outside(true);
	result = outside_sleep(sleep_ns);
	if (result > 0 && outside.woken_period == engine_idle_period())
		(void)platform_call(SYS_nanosleep, &(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	runtime_mark_outside(false);
	outside.woken_period = result > 0 ? engine_idle_period() : 0;
	for (uint32_t i = first; i < outside.poll_count; i++)
		(void)platform_call(SYS_close, outside.polls[i].fd);
	passed_ns = platform_monotonic_ns() - real_start_ns;
	if (!time_is_virtual())
		(void)time_now_ns();
	else if (outside.is_clock_still)
		return;
	else if (result == 0 && sleep_ns != ENGINE_FOREVER)
		engine_clock_advance_to(start_ns + sleep_ns);
	else
		engine_clock_advance_to(
			start_ns + passed_ns < limit_ns ? start_ns + passed_ns : limit_ns);
	family_publish_clock();
	if (outside.needs_slices && !signals_arrived()) /* a signal takes precedence, with EINTR */
		fd_retry_changed();
}

/* Returns true if a descriptor is ready, but at most once until a thread has moved. */
static bool outside_is_ready(void)
{
	if (!outside.poll_count || outside.woken_period == engine_idle_period() ||
		platform_call(SYS_poll, outside.polls, outside.poll_count, 0) <= 0)
		return false;
	outside.woken_period = engine_idle_period();
	return true;
}

/* Returns whether a waited-for child has ended since the thread's last check. */
static bool outside_child_has_ended(void)
{
	for (uint32_t i = 0; outside.has_child && i < engine_thread_count(); i++) {
		const struct engine_op *op = engine_thread(i)->op;

		if (op && op->kind == OP_CHILD_WAIT &&
			(!op->ready || op->ready(op, engine_thread(i))))
			return true;
	}
	return false;
}

/* Returns whether another process has changed a shared object since its waiter's last check. */
static bool outside_shared_is_ready(void)
{
	for (uint32_t i = 0; outside.has_shared && i < engine_thread_count(); i++) {
		const struct engine_op *op = engine_thread(i)->op;

		if (op && op->is_shared && op->ready(op, engine_thread(i)))
			return true;
	}
	return false;
}

/* Returns whether a signal of another process, which is no child, may still end a wait. The command
 * sends none in a campaign. If one run has ended without such a signal, the program needs none. Nor
 * does a program that has received, from itself or from a child, each of the signals that its
 * threads wait for. */
static bool outside_signal_is_possible(void)
{
	const struct contract *contract = runtime.contract;

	if (!contract || runtime.is_forked_child || contract->features & FEATURE_OUTSIDE_SIGNAL ||
		family_has_stranger() ||
		(outside.has_signalfd && !signals_of_descriptors_are_own()))
		return true;
	return !__atomic_load_n(&contract->plan.ends_alone, __ATOMIC_RELAXED) &&
	       !contract->totals.outcome[OUTCOME_PASSED] && !signals_are_own();
}

static bool outside_is_worth_it(uint64_t limit_ns, uint32_t child_count)
{
	/* No event ends a cycle. A forked child may still answer its parent, and is not judged. */
	if (limit_ns == ENGINE_FOREVER && !runtime.is_forked_child && engine_has_cycle())
		return false;
	if (outside.has_external || outside.has_child)
		return true;
	/* A child that ends, or a signal from a child or the parent, may run a handler. */
	if ((child_count || runtime.is_forked_child) && signals_have_handler_for_others())
		return true;
	if (outside.has_shared && (child_count || runtime.is_forked_child))
		return true;
	if (limit_ns == ENGINE_FOREVER)
		return (outside.has_signal && (child_count || outside_signal_is_possible())) ||
		       outside.has_own || timer_is_ticking_outside() ||
		       (child_count && outside.poll_count);
	return child_count || !time_is_virtual() || outside.has_undelivered;
}

/* Real time between two checks of other members, at first and later. */
#define FAMILY_SLICE_NS UINT64_C(200000)
#define FAMILY_SLICE_LATER_NS UINT64_C(1000000)
#define FAMILY_SLICES 25
/* A member that computes uses no virtual time, and may wait for the caller in a way that the
 * runtime does not see. Time therefore passes for the caller after this multiple of its wait in
 * real time, within limits. */
#define FAMILY_GRACE_FACTOR 64
#define FAMILY_GRACE_LEAST_NS UINT64_C(1000000)
#define FAMILY_GRACE_MOST_NS UINT64_C(100000000)

static bool outside_has_stranger(const int *pids, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		if (!family_has_member(pids[i])) {
			family_note_stranger();
			return true;
		}
	return false;
}

static bool outside_clock_is_still(uint64_t limit_ns, uint64_t waited_ns)
{
	uint64_t grace_ns = FAMILY_GRACE_MOST_NS;

	if (limit_ns - time_now_ns() < FAMILY_GRACE_MOST_NS / FAMILY_GRACE_FACTOR)
		grace_ns = (limit_ns - time_now_ns()) * FAMILY_GRACE_FACTOR;
	if (grace_ns < FAMILY_GRACE_LEAST_NS)
		grace_ns = FAMILY_GRACE_LEAST_NS;
	return limit_ns == ENGINE_FOREVER || waited_ns < grace_ns;
}

static void outside_wait_for_family(
	enum family_verdict verdict, uint64_t limit_ns, const int *pids, uint32_t child_count)
{
	uint64_t waited_ns;

	if (outside.idle_period != engine_idle_period()) {
		outside.idle_period = engine_idle_period();
		outside.idle_real_ns = platform_monotonic_ns();
	}
	waited_ns = platform_monotonic_ns() - outside.idle_real_ns;
	outside.slice_ns = waited_ns < FAMILY_SLICES * FAMILY_SLICE_NS ? FAMILY_SLICE_NS
								       : FAMILY_SLICE_LATER_NS;
	outside.is_clock_still =
		verdict == FAMILY_WAITS && outside_clock_is_still(limit_ns, waited_ns);
	outside_wait_until(limit_ns, pids, child_count);
	(void)family_look(); /* running until its own threads were checked */
	outside.slice_ns = 0;
	outside.is_clock_still = false;
}

/* Asks the process family how to continue a wait that no event has ended yet. */
static enum family_verdict outside_ask_family(
	uint64_t epoch, uint64_t limit_ns, const int *pids, uint32_t child_count)
{
	const struct family_wait wait = {.epoch = epoch,
		.deadline_ns = limit_ns,
		.is_outside = outside.has_external || outside.has_own || outside.needs_slices ||
			      timer_is_ticking_outside() || outside_has_stranger(pids, child_count),
		.is_signal = outside.has_signal};

	return family_wait(&wait);
}

/* Waits until a thread may be enabled. Returns false if waiting longer cannot help. */
static bool outside_wait(uint64_t epoch, uint64_t limit_ns, const int *pids, uint32_t child_count)
{
	const enum family_verdict verdict = outside_ask_family(epoch, limit_ns, pids, child_count);

	if (verdict == FAMILY_DEADLOCKED || (verdict == FAMILY_TIME && time_is_virtual()))
		return false;
	if (verdict == FAMILY_ALONE && !outside_is_worth_it(limit_ns, child_count))
		return false;
	if (verdict == FAMILY_ALONE)
		outside_wait_until(limit_ns, pids, child_count);
	else
		outside_wait_for_family(verdict, limit_ns, pids, child_count);
	(void)timer_fire_due();
	if (signals_arrived())
		runtime_route_signals();
	return true;
}

bool runtime_wait_outside(uint64_t deadline_ns)
{
	int pids[CHILDREN_MAX];
	const uint64_t epoch = family_look();
	uint64_t timer_ns = timer_next_ns();
	uint64_t limit_ns = timer_ns < deadline_ns ? timer_ns : deadline_ns;
	uint32_t child_count;

	if (signals_arrived()) {
		runtime_route_signals();
		return true;
	}
	outside_collect();
	/*
	 * Children are counted before descriptors are polled. The output of a child that has ended
	 * is then visible, and a child that ends later makes its descriptor ready. Likewise, bytes of
	 * own connections that have been delivered are then visible, and others are waited for.
	 */
	child_count = children_alive(pids);
	outside.has_undelivered = outside.has_own && limit_ns != ENGINE_FOREVER &&
				  time_is_virtual() && !loopback_all_delivered();
	if (outside_is_ready() || outside_child_has_ended() || outside_shared_is_ready())
		return true;
	if (limit_ns > time_now_ns() && outside_wait(epoch, limit_ns, pids, child_count))
		return true;
	if (signals_arrived()) { /* SIGCHLD of a child that has ended meanwhile */
		runtime_route_signals();
		return true;
	}
	if (timer_ns > deadline_ns || timer_ns == ENGINE_FOREVER)
		return false;
	engine_clock_advance_to(timer_ns);
	(void)timer_fire_due();
	runtime_route_signals();
	return true;
}

bool outside_look(void)
{
	outside_collect();
	if (outside.has_shared)
		engine_changed_shared();
	if (!outside.has_external && !outside.has_child && !outside.has_signalfd)
		return false;
	fd_changed();
	engine_changed_kind(OP_CHILD_WAIT);
	return true;
}

/* Lets another process run, while the program makes steps in a loop. */
#define LOOK_PAUSE_NS 1000000

void runtime_look_outside(void)
{
	if (!outside_look() && !outside.has_family)
		return;
	fd_changed();
	(void)platform_call(SYS_nanosleep, &(struct timespec){.tv_nsec = LOOK_PAUSE_NS}, NULL);
}

/* Consecutive failures of all threads after which a failed try sleeps in real time. */
#define TRIES_BEFORE_NAP 64

void world_failed_try(bool is_external)
{
	engine_unproductive();
	if (!is_external)
		return;
	if (engine_step() > outside.failed_step + TRIES_BEFORE_NAP)
		outside.failed_tries = 0;
	outside.failed_step = engine_step();
	if (++outside.failed_tries < TRIES_BEFORE_NAP)
		return;
	runtime_mark_outside(true);
	(void)platform_call(SYS_nanosleep, &(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	runtime_mark_outside(false);
}
