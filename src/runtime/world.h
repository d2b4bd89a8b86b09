/*
 * What the files about the outside world (time, descriptors, processes, signals) share with each other. The
 * functions run in the target's only moving thread, except where a comment says "signal".
 *
 * A descriptor is *scheduled* when its operations are scheduling points: pipes, sockets and event descriptors, which
 * another thread can make ready. Other descriptors are *plain*. A descriptor is *internal* when only this process
 * can make it ready. A wait for an internal descriptor never needs real time.
 */
#ifndef RADDLE_RUNTIME_WORLD_H
#define RADDLE_RUNTIME_WORLD_H

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>

#include "engine/engine.h"
#include "abi/contract.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* ---- time: time.c, sleep.c, timer.c ---- */

/* True when virtual time jumps to the next deadline while no thread is enabled. The plan may turn this off. */
bool time_is_virtual(void);
/* Nanoseconds of a valid timespec, saturating below ENGINE_FOREVER. */
uint64_t time_from_timespec(const struct timespec *time);
struct timespec time_to_timespec(uint64_t ns);
bool time_is_valid(const struct timespec *time);
/* The engine's clock. Without virtual time, first advances that clock to the real one. */
uint64_t time_now_ns(void);
/* Checks whether the caller may use these creation attributes (NULL: none). Returns 0, EINVAL or
 * EPERM. affinity.c. */
int affinity_check(const pthread_attr_t *attributes);
/* Scheduling policy and priority of the thread, as the target set them. The setter returns 0 or -errno. */
void affinity_get_scheduling(const struct engine_thread *thread, int *policy, int *priority);
long affinity_set_scheduling(struct engine_thread *thread, int policy, int priority);
/* Gives a thread created by the caller the caller's nice value and other priorities. priority.c. */
void priority_inherit(const struct engine_thread *thread);
/* Gives a created thread the scheduling attributes of its creation. */
void affinity_inherit(struct engine_thread *thread, const pthread_attr_t *attributes);
/* Prepares named semaphores for use by the child: semaphore.c. */
void semaphore_prepare_fork(void);
/* Sets CLOCK_REALTIME of the target, directly or by one of the system calls that set clocks: clock_set.c. */
void time_set_realtime(const struct timespec *wanted);
bool time_emulate_setting(long number, const long arguments[6], long *result);
/* The time `ns` from now, saturating below ENGINE_FOREVER. */
uint64_t time_after(uint64_t ns);
/* Reads a clock of the target's virtual world, or the real clock with the same id. False: EINVAL. */
bool time_read(clockid_t clock, uint64_t *ns);
/* Called in the child after fork(): restarts its processor clocks. */
void time_begin_child(void);

/* timer_create()'s share of timer_next_ns() and timer_fire_due(): posix_timer.c. */
uint64_t posix_timer_next_ns(void);
bool posix_timer_fire_due(uint64_t now_ns);
/* Updates the overrun count of a timer's signal. */
void posix_timer_was_taken(siginfo_t *information);
/* A timer with an interval below TIMER_SLACK_NS notifies this long after its last notification.
 * Expirations in between count as overruns, because the kernel cannot notify for each of them
 * either. */
#define TIMER_SLACK_NS UINT64_C(50000)
static inline uint64_t timer_no_sooner(
	uint64_t deadline_ns, uint64_t fired_ns, uint64_t interval_ns)
{
	return interval_ns && fired_ns && interval_ns < TIMER_SLACK_NS &&
			       deadline_ns < fired_ns + TIMER_SLACK_NS
		       ? fired_ns + TIMER_SLACK_NS
		       : deadline_ns;
}
/* Called in the child after fork(): drops all timers, as a child inherits none. */
void posix_timer_begin_child(void);
void timer_begin_child(void);
/* The same functions for timer descriptors: timerfd.c. */
uint64_t timerfd_next_ns(void);
bool timerfd_fire_due(uint64_t now_ns);
void timerfd_begin_child(void);
/* Corrects the 8 bytes that a read from a timer descriptor returned. Does nothing for other descriptors. */
void timerfd_was_read(int fd, const struct iovec *vector);
void timerfd_forget(int fd);

/* Deadline of the earliest virtual timer (alarm, setitimer, timer_create); ENGINE_FOREVER: none. */
uint64_t timer_next_ns(void);
/* With real time, timers are the kernel's. True: such a timer is armed and will send a signal. */
bool timer_is_ticking_outside(void);
/* Fires the timers that are due. Returns whether any was. */
bool timer_fire_due(void);
/* Implements engine_host.fire_timers. */
uint64_t timer_fire_and_next_ns(void);

/* Called in the child after fork(): drops the parent's requests of asynchronous input and output. aio.c. */
void aio_begin_child(void);

/* ---- descriptors: fd_table.c ---- */

enum fd_class {
	FD_UNKNOWN, /* class not known yet: the kernel is asked at the next use */
	FD_PLAIN,
	FD_PIPE,
	FD_SOCKET,
	FD_CHARACTER, /* terminals: reads are scheduled, writes are plain */
	FD_RANDOM,    /* /dev/urandom and /dev/random: reads return random numbers of the run */
	FD_EVENT      /* eventfd, timerfd, epoll and any other descriptor that can be polled */
};

/* How a blocked operation finds out whether it is enabled. engine_op.argument points to the request. */
enum fd_shape {
	FD_SHAPE_ONE,	 /* one descriptor, `events` */
	FD_SHAPE_POLL,	 /* an array of poll() */
	FD_SHAPE_SELECT, /* three sets */
	/* No condition to test: the operation is tried again after `epoch` has grown (file locks) */
	FD_SHAPE_RETRY
};

struct fd_request {
	uint8_t shape; /* enum fd_shape */
	int16_t events;
	int fd;
	uint64_t epoch;
	struct pollfd *polls;
	uint64_t count; /* of polls; of bits for select */
	const fd_set *sets[3];
};

/* The class of this descriptor; FD_PLAIN also for a number that is no descriptor. */
enum fd_class fd_classify(int fd);
bool fd_is_internal(int fd);
/* True if only members of the process family (family.h) can make the descriptor ready. */
bool fd_is_of_family(int fd);
/* Replaces the `result` bytes just read by random numbers of the run, if the (classified) descriptor is FD_RANDOM. */
void fd_randomise(int fd, const struct iovec *vector, int count, long result);
/* The engine's object of this descriptor, as an address for engine_op. The ends of a pipe share one object. */
const void *fd_object(int fd);
/* True when every operation on the file or channel behind the object certainly uses this object. */
bool fd_object_is_whole(const void *object);
/* The descriptor as engine_op.number, for reports. */
uint16_t fd_number(int fd);
/* Makes a scheduling point for a call that does not wait. */
void fd_point(enum call_kind call, int fd, uint64_t site);
/* Registers a new descriptor. `peer`: the other end, or the descriptor itself. */
void fd_opened(int fd, enum fd_class class, bool is_internal, int peer);
/* Registers `copy` as a duplicate of `fd`. */
void fd_duplicated(int fd, int copy);
/* Forgets the descriptor: it was closed, or its meaning is no longer known. */
void fd_forget(int fd);
/* Notes that a wait for `epoll_fd` now includes `fd`. */
void fd_watched(int epoll_fd, int fd);
/* Notes that a child has copies of all descriptors. The child may pass them on to children of its own and end. */
void fd_were_inherited(void);
/* Notes that another process may have a copy of this descriptor. */
void fd_was_sent(int fd);
/* True when a call on the descriptor may block (no O_NONBLOCK). */
bool fd_waits(int fd);

/* engine_ready of every request; without side effects. */
bool fd_request_ready(const struct engine_op *op, const struct engine_thread *thread);
/* True when another process can make one of the request's descriptors ready. */
bool fd_request_is_external(const struct fd_request *request);
/* Makes the scheduling point of a descriptor operation, and waits until it is ready. `op` has
 * kind, site, deadline and ready; this function fills in the rest. Acts on cancellation itself. */
enum engine_result fd_perform(struct engine_op *op, struct fd_request *request);

/* A read or write that may block. After its scheduling point, `attempt` tries it without blocking. */
struct fd_transfer {
	int fd;
	uint8_t kind;	  /* OP_FD_READ or OP_FD_WRITE */
	uint8_t call;	  /* enum call_kind */
	bool never_waits; /* the call itself forbids waiting, such as MSG_DONTWAIT */
	uint64_t site;
	/* Returns the raw result. Must not block: returns -EAGAIN instead. */
	long (*attempt)(const struct fd_transfer *transfer);
	/* Arguments for attempt(): */
	const struct iovec *vector;
	int vector_count;
	struct msghdr *message;
	int flags;
};

/* True when reads (or writes) of this descriptor are scheduling points. Always false before the first thread. */
bool fd_is_scheduled(int fd, enum op_kind kind);
/* Performs the transfer: scheduling point, attempts, waits, signals, socket time-outs. Raw result. */
long fd_transfer(const struct fd_transfer *transfer);
/* Gather write: writes all bytes, except on a non-blocking descriptor. Raw result. */
long fd_write_all(struct fd_transfer *transfer, const struct iovec *vector, int count);
/* Logs the call for the rewind. SYS_read and SYS_write stand for their families of calls. */
void fd_note(long number, int fd, long result);
/* Called after a descriptor operation with an effect: blocked operations test their readiness again. */
void fd_changed(void);
/* File locks and listening queues: makes operations with FD_SHAPE_RETRY try again. */
void fd_retry_changed(void);
uint64_t fd_retry_epoch(void);

/* libc's function that ends a program which overran a buffer under _FORTIFY_SOURCE. */
void __chk_fail(void) __attribute__((noreturn));

/* ---- the real world: outside.c ---- */

/* Called after an operation that only yields: tests whether an outside event has become ready
 * meanwhile. Without this test a loop that yields would starve threads that wait for the
 * outside. Returns whether any thread waits for the outside. */
bool outside_look(void);
/* Called when the last op failed for now (engine_unproductive()). `is_external`: another process
 * may need time to change that. */
void world_failed_try(bool is_external);

/* ---- processors: affinity.c ---- */

/* The processor number that the caller sees. */
unsigned int affinity_processor(void);

/* ---- children: children.c ---- */

#define CHILDREN_MAX 64
/* Living children of this process. Returns how many there are, at most CHILDREN_MAX; a pid of 0
 * stands for children that cannot be named. */
uint32_t children_alive(int pids[CHILDREN_MAX]);

/* ---- deadlocked children: stuck_children.c ---- */

/* Called in a forked child none of whose threads can ever run again: publishes its outcome. The
 * child then stands still. */
void stuck_child_tell(const struct outcome *outcome);
/* Called in the process of the run, at its begin. */
void stuck_children_begin_run(void);
/* Called when the run ends because no thread is enabled: puts the waits of deadlocked children
 * before those of the run's own threads. */
void stuck_children_add_waits(struct outcome *outcome);
/* Lists threads of children in the run's evidence as created by their forker: the child's view
 * of a thread, its index in the run (THREAD_NONE: no room), and all such threads after the run's
 * own. */
struct contract_thread stuck_child_describe(const struct engine_thread *thread);
struct thread_id stuck_children_add_thread(
	struct thread_id forker, const struct contract_thread *description);
void stuck_children_add_threads(struct contract_thread *threads, uint32_t *count);

/* ---- signals: signal_queue.c, signal_delivery.c, signal.c ---- */

/* True when a signal has arrived that no thread has been given yet. */
bool signals_arrived(void);
/* True when the target has a handler for a signal that processes send to each other. Signals of
 * a terminal, and of the program's own faults, do not count. */
bool signals_have_handler_for_others(void);
/* Runs the handlers that the caller must run now. Returns whether any ran. */
bool signals_deliver_now(void);
/* True when all handlers that ended the caller's last wait have SA_RESTART. */
bool signals_want_restart(void);
/* Called when the caller ends: reassigns signals of the process that were assigned to the caller. */
void signals_leave_thread(void);
/* For ppoll and similar calls: replaces the caller's mask for their duration. Returns the old mask. */
uint64_t signals_swap_mask(uint64_t mask);
/* Raises a signal that the runtime makes itself, such as a timer's. `thread` NULL: for the process. */
void signals_raise(struct engine_thread *thread, const siginfo_t *information);
/* The pending signal of a timer (timer_create); NULL: no signal is pending. */
siginfo_t *signals_pending_of_timer(int signal, int timer);
/* Called in the child after fork(): drops the parent's pending signals. */
void signals_begin_child(void);
/* Called when no scheduling point follows: the kernel gets the target's mask and handlers. */
void signals_give_to_kernel(void);

static inline uint64_t signal_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}

#endif
