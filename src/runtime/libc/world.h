/*
 * Shared declarations of the files about the outside world (time, descriptors, processes, signals).
 * The functions run in the target's only moving thread, except where a comment says "signal".
 *
 * A descriptor is *scheduled* when its operations are scheduling points: pipes, sockets and event
 * descriptors, which another thread can make ready. Others are *plain*. A descriptor is *internal*
 * when only this process can make it ready: a wait for it never needs real time.
 */
#pragma once

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

/* Returns whether virtual time jumps to the next deadline while no thread is enabled (plan). */
bool time_is_virtual(void);
/* Converts a valid timespec; saturates below ENGINE_FOREVER. */
uint64_t time_from_timespec(const struct timespec *time);
struct timespec time_to_timespec(uint64_t ns);
bool time_is_valid(const struct timespec *time);
/* Returns the engine's clock. Without virtual time, first advances it to the real one. */
uint64_t time_now_ns(void);
/* Checks creation attributes (NULL: none) for the caller. Returns 0, EINVAL or EPERM. */
int affinity_check(const pthread_attr_t *attributes);
/* The scheduling policy that the target set. The setter returns 0 or -errno. */
void affinity_get_scheduling(const struct engine_thread *thread, int *policy, int *priority);
long affinity_set_scheduling(struct engine_thread *thread, int policy, int priority);
/* priority.c: a created thread inherits the caller's nice value and other priorities. */
void priority_inherit(const struct engine_thread *thread);
void affinity_inherit(struct engine_thread *thread, const pthread_attr_t *attributes);
/* Prepares named semaphores for use by the child (semaphore.c). */
void semaphore_prepare_fork(void);
/* clock_set.c: sets CLOCK_REALTIME of the target. */
void time_set_realtime(const struct timespec *wanted);
bool time_emulate_setting(long number, const long arguments[6], long *result);
/* Returns the time `ns` from now; saturates below ENGINE_FOREVER. */
uint64_t time_after(uint64_t ns);
/* Reads a clock of the virtual world, or the real clock with the same id. Returns false for
 * EINVAL. */
bool time_read(clockid_t clock, uint64_t *ns);
/* Called in the child after fork(): restarts its processor clocks. */
void time_begin_child(void);

/* Used by timer_next_ns() and timer_fire_due() (posix_timer.c). */
uint64_t posix_timer_next_ns(void);
bool posix_timer_fire_due(uint64_t now_ns);
/* Updates the overrun count of a timer's signal. */
void posix_timer_was_taken(siginfo_t *information);
/* A timer with a shorter interval notifies this long after its last notification. Expirations in
 * between count as overruns: the kernel cannot notify for each of them either. */
#define TIMER_SLACK_NS UINT64_C(50000)
static inline uint64_t timer_no_sooner(
	uint64_t deadline_ns, uint64_t fired_ns, uint64_t interval_ns)
{
	return interval_ns && fired_ns && interval_ns < TIMER_SLACK_NS &&
			       deadline_ns < fired_ns + TIMER_SLACK_NS
		       ? fired_ns + TIMER_SLACK_NS
		       : deadline_ns;
}
/* Called in the child after fork(), which inherits no timers. */
void posix_timer_begin_child(void);
void timer_begin_child(void);
/* Used by the same functions (timerfd.c). */
uint64_t timerfd_next_ns(void);
bool timerfd_fire_due(uint64_t now_ns);
void timerfd_begin_child(void);
/* Corrects the 8 bytes read from a timer descriptor. The call has no effect on other descriptors. */
void timerfd_was_read(int fd, const struct iovec *vector);
void timerfd_forget(int fd);

/* Returns the next deadline of alarm, setitimer and timer_create; ENGINE_FOREVER: none. */
uint64_t timer_next_ns(void);
/* Returns true with real time, if a timer of the kernel is armed and will send a signal. */
bool timer_is_ticking_outside(void);
/* Fires the timers that are due. Returns true if one was due. */
bool timer_fire_due(void);
/* Implements engine_host.fire_timers. */
uint64_t timer_fire_and_next_ns(void);

/* Called in the child after fork(): drops the parent's requests (aio.c). */
void aio_begin_child(void);

/* ---- descriptors: fd_table.c ---- */

enum fd_class {
	FD_UNKNOWN, /* the kernel is asked at the next use */
	FD_PLAIN,
	FD_PIPE,
	FD_SOCKET,
	FD_CHARACTER, /* terminals: reads are scheduled, writes are plain */
	FD_RANDOM,    /* /dev/urandom and /dev/random: reads return random numbers of the run */
	FD_EVENTFD,
	FD_EPOLL,
	FD_TIMERFD,
	FD_SIGNALFD,
	FD_EVENT /* any other descriptor that can be polled */
};

/* How a blocked operation finds out whether it is enabled, by the request in engine_op.argument. */
enum fd_shape {
	FD_SHAPE_ONE,
	FD_SHAPE_POLL,
	FD_SHAPE_SELECT,
	/* No condition can be tested: tried again after `epoch` has grown (file locks) */
	FD_SHAPE_RETRY
};

struct fd_request {
	uint8_t shape; /* enum fd_shape */
	int16_t events;
	int fd;
	uint64_t epoch;
	struct pollfd *polls;
	uint64_t count; /* number of polls; for select, number of bits */
	const fd_set *sets[3];
	/* True for calls such as ppoll(), which set another signal mask while they wait. A signal that this mask lets
	 * through interrupts the call, also if it was sent before the call. */
	bool has_own_mask;
};

/* Returns FD_PLAIN also for a number that is no descriptor. */
enum fd_class fd_classify(int fd);
bool fd_is_internal(int fd);
/* Returns whether only members of the process family (family.h) can make the descriptor ready. */
bool fd_is_of_family(int fd);
/* Replaces the `result` bytes just read by random numbers of the run, for FD_RANDOM. */
void fd_randomise(int fd, const struct iovec *vector, int count, long result);
/* Returns the descriptor's object, as an address for engine_op. The ends of a pipe share one
 * object. */
const void *fd_object(int fd);
/* Returns true if every operation on the file or channel behind the object uses this object. */
bool fd_object_is_whole(const void *object);
/* Returns the descriptor as engine_op.number, for reports. */
uint16_t fd_number(int fd);
/* Makes a scheduling point for a call that does not wait. */
void fd_point(enum call_kind call, int fd, uint64_t site);
/* Registers a descriptor. `peer`: the other end, or the descriptor itself. */
void fd_opened(int fd, enum fd_class class, bool is_internal, int peer);
void fd_duplicated(int fd, int copy);
/* Forgets a descriptor that was closed, or whose meaning is no longer known. */
void fd_forget(int fd);
/* Records that a wait for `epoll_fd` now includes `fd`. */
void fd_watched(int epoll_fd, int fd);
/* Records that a child has copies of all descriptors, and may pass them on to children. */
void fd_were_inherited(void);
/* Records that another process may have a copy. */
void fd_was_sent(int fd);
/* Returns whether a call can block (no O_NONBLOCK). */
bool fd_waits(int fd);
/* Returns whether the descriptor is ready for the events of poll(). */
bool fd_polls_ready(int fd, short events);
/* Returns whether the program has made the descriptor as a socket, or as an epoll set. */
bool fd_is_known_socket(int fd);
bool fd_is_own_epoll(int fd);
/* Returns whether signalfd() has made the descriptor: signals make it ready. */
bool fd_is_of_signals(int fd);

/* connect.c: takes the result of a call with a socket's address. Notes that this network does not have the address. */
void connect_note_result(long result);

/* loopback.c: connections of which both ends belong to this process. */
void loopback_accepted(int listener, int fd);
void loopback_watched(int epoll_fd, int fd);
void loopback_forget(int fd);
/* Another process may have copies of all descriptors. */
void loopback_forget_all(void);
/* Returns whether the descriptor is an end of such a connection, a listening socket that has accepted no
 * others, or an epoll set of only such and internal descriptors. */
bool loopback_is_own(int fd);
/* Returns whether all bytes that were sent over such connections can be read. */
bool loopback_all_delivered(void);

/* Implements engine_ready for every request. */
bool fd_request_ready(const struct engine_op *op, const struct engine_thread *thread);
/* Returns whether another process can make one of the descriptors ready. */
bool fd_request_is_external(const struct fd_request *request);
/* The scheduling point of a descriptor operation, and the wait until it is ready. `op` has kind,
 * site, deadline and ready. Acts on cancellation itself. */
enum engine_result fd_perform(struct engine_op *op, struct fd_request *request);

/* A read or write that may block. `attempt` tries it after its scheduling point. */
struct fd_transfer {
	int fd;
	uint8_t kind; /* OP_FD_READ or OP_FD_WRITE */
	uint8_t call;
	bool never_waits; /* such as MSG_DONTWAIT */
	uint64_t site;
	/* Must not block: returns the raw result, or -EAGAIN. */
	long (*attempt)(const struct fd_transfer *transfer);
	const struct iovec *vector;
	int vector_count;
	struct msghdr *message;
	int flags;
};

/* Returns whether reads or writes are scheduling points. Always false before the first thread. */
bool fd_is_scheduled(int fd, enum op_kind kind);
/* Makes the scheduling point, attempts and waits. Returns the raw result. */
long fd_transfer(const struct fd_transfer *transfer);
/* Writes all bytes, except on a non-blocking descriptor. Raw result. */
long fd_write_all(struct fd_transfer *transfer, const struct iovec *vector, int count);
/* Logs the call for the rewind. SYS_read and SYS_write stand for their families of calls. */
void fd_note(long number, int fd, long result);
/* Called after a descriptor operation with an effect: re-evaluates blocked operations. */
void fd_changed(void);
/* Called when a file lock or listening queue has changed: operations with FD_SHAPE_RETRY try
 * again. */
void fd_retry_changed(void);
uint64_t fd_retry_epoch(void);

/* libc calls this function to end a program that overran a buffer under _FORTIFY_SOURCE. */
void __chk_fail(void) __attribute__((noreturn));

/* ---- the real world: outside.c ---- */

/* Tests, after an operation that only yields, whether an outside event has become ready. Without
 * the test, a loop that yields would starve threads that wait for the outside. Returns true if a
 * thread waits for the outside. */
bool outside_look(void);
/* Notes that the last op failed for now (engine_unproductive()). `is_external`: another process may
 * need time to change that. */
void world_failed_try(bool is_external);

/* ---- processors: affinity.c ---- */

/* Returns the number of the processor as the caller sees it. */
unsigned int affinity_processor(void);

/* ---- children: children.c ---- */

#define CHILDREN_MAX 64
/* Returns the number of living children, at most CHILDREN_MAX; pid 0: children that cannot be
 * named. */
uint32_t children_alive(int pids[CHILDREN_MAX]);

/* ---- deadlocked children: stuck_children.c ---- */

/* Called in a forked child none of whose threads can ever run again: publishes its outcome. The
 * child then stands still. */
void stuck_child_report(const struct outcome *outcome);
void stuck_children_begin_run(void);
/* Puts the waits of deadlocked children before those of the run's threads. */
void stuck_children_add_waits(struct outcome *outcome);
/* Lists threads of children in the evidence as created by their forker. stuck_child_describe(): the
 * child's view of a thread. stuck_children_add_thread(): the thread's index in the run, or
 * THREAD_NONE if the evidence has no room. stuck_children_add_threads(): appends all such threads
 * to the run's own. */
struct thread_record stuck_child_describe(const struct engine_thread *thread);
struct thread_id stuck_children_add_thread(
	struct thread_id forker, const struct thread_record *description);
void stuck_children_add_threads(struct thread_record *threads, uint32_t *count);

/* ---- signals: signal_queue.c, signal_delivery.c, signal.c ---- */

/* Returns whether signals have arrived that no thread has been given yet. */
bool signals_arrived(void);
/* Returns whether the target has a handler for a signal that processes send to each other, other
 * than those of a terminal or of its own faults. */
bool signals_have_handler_for_others(void);
/* Returns whether a signal would run a handler in the caller, other than one for the caller's own faults. */
bool signals_may_interrupt(void);
/* Returns whether the process has sent itself each of the signals that its threads wait for. */
bool signals_are_own(void);
/* Returns whether the process has sent itself each signal of the descriptors that signalfd() has made. */
bool signals_of_descriptors_are_own(void);
/* Runs the handlers that the caller must run now. Returns true if one ran. */
bool signals_deliver_now(void);
/* Returns whether all handlers that ended the caller's last wait have SA_RESTART. */
bool signals_want_restart(void);
/* Called when the caller ends: reassigns signals of the process that it was assigned. */
void signals_leave_thread(void);
/* Replaces the mask for ppoll and similar calls. Returns the old mask. */
uint64_t signals_swap_mask(uint64_t mask);
/* Raises a signal of the runtime, such as a timer's. Thread NULL: for the process. */
void signals_raise(struct engine_thread *thread, const siginfo_t *information);
/* The pending signal of a timer of timer_create(); returns NULL if there is none. */
siginfo_t *signals_pending_of_timer(int signal, int timer);
/* Called in the child after fork(): drops the parent's pending signals. */
void signals_begin_child(void);
/* Called when no scheduling point follows: the kernel gets the target's mask and handlers. */
void signals_give_to_kernel(void);

static inline uint64_t signal_bit(int signal)
{
	return UINT64_C(1) << (signal - 1);
}
