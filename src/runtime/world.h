/*
 * What the families about the outside world (time, descriptors, processes, signals) share with each
 * other. Thread context: the target's only moving thread, except where a comment says "signal".
 *
 * New words: a descriptor is *scheduled* when its operations are scheduling points (pipes, sockets,
 * event descriptors: what another thread can make ready), else *plain*. It is *internal* when only
 * this process can make it ready, so that waiting for it in the real world would be in vain.
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

/* Does virtual time jump to the next deadline when no thread is enabled? False where the plan turns this off. */
bool time_is_virtual(void);
/* Nanoseconds of a valid timespec, saturating below ENGINE_FOREVER. */
uint64_t time_from_timespec(const struct timespec *time);
struct timespec time_to_timespec(uint64_t ns);
bool time_is_valid(const struct timespec *time);
/* The engine's clock; brought up to the real one first where time is real. */
uint64_t time_now_ns(void);
/* Attributes of a creation, NULL: none. Can the caller have them (0, EINVAL, EPERM)? affinity.c. */
int affinity_check(const pthread_attr_t *attributes);
/* The thread's policy and priority of the system's scheduler. The setter returns 0 or -errno. */
void affinity_get_scheduling(const struct engine_thread *thread, int *policy, int *priority);
long affinity_set_scheduling(struct engine_thread *thread, int policy, int priority);
/* Gives a thread created by the caller the caller's nice value and other priorities. priority.c. */
void priority_inherit(const struct engine_thread *thread);
/* The thread that it has made gets them. */
void affinity_inherit(struct engine_thread *thread, const pthread_attr_t *attributes);
/* Named semaphores are to be seen by the child: semaphore.c. */
void semaphore_prepare_fork(void);
/* From now on CLOCK_REALTIME shows this; and the system calls that ask for it: clock_set.c. */
void time_set_realtime(const struct timespec *wanted);
bool time_emulate_setting(long number, const long arguments[6], long *result);
/* `ns` from now, saturating below ENGINE_FOREVER. */
uint64_t time_after(uint64_t ns);
/* What a clock of the target's world shows, and the real one with the same name. False: EINVAL. */
bool time_read(clockid_t clock, uint64_t *ns);
/* Called in the child after fork(): restarts its processor clocks. */
void time_begin_child(void);

/* The parts of the next two that timer_create() has: posix_timer.c. */
uint64_t posix_timer_next_ns(void);
bool posix_timer_fire_due(uint64_t now_ns);
/* Updates the overrun count of a timer's signal. */
void posix_timer_was_taken(siginfo_t *information);
/*
 * A timer with an interval below TIMER_SLACK_NS notifies this long after its last notification. Expirations in
 * between count as overruns, because the kernel cannot notify for each of them either.
 */
#define TIMER_SLACK_NS UINT64_C(50000)
static inline uint64_t timer_no_sooner(
	uint64_t deadline_ns, uint64_t fired_ns, uint64_t interval_ns)
{
	return interval_ns && fired_ns && interval_ns < TIMER_SLACK_NS &&
			       deadline_ns < fired_ns + TIMER_SLACK_NS
		       ? fired_ns + TIMER_SLACK_NS
		       : deadline_ns;
}
/* Child side of fork(): no timer is inherited. */
void posix_timer_begin_child(void);
void timer_begin_child(void);
/* Likewise for timer descriptors: timerfd.c. */
uint64_t timerfd_next_ns(void);
bool timerfd_fire_due(uint64_t now_ns);
void timerfd_begin_child(void);
/* A read from this descriptor gave its 8 bytes: if it is a timer's, they are put right. */
void timerfd_was_read(int fd, const struct iovec *vector);
void timerfd_forget(int fd);

/* The earliest virtual timer (alarm, setitimer, timer_create), ENGINE_FOREVER: none. */
uint64_t timer_next_ns(void);
/* With real time the timer is the kernel's: will it send a signal? */
bool timer_is_ticking_outside(void);
/* Fires the timers that are due. Whether any was. */
bool timer_fire_due(void);
/* An engine_host.fire_timers. */
uint64_t timer_fire_and_next_ns(void);

/* Called in the child after fork(): drops the parent's requests of asynchronous input and output. aio.c. */
void aio_begin_child(void);

/* ---- descriptors: fd_table.c ---- */

enum fd_class {
	FD_UNKNOWN, /* asked of the kernel at the next use */
	FD_PLAIN,
	FD_PIPE,
	FD_SOCKET,
	FD_CHARACTER, /* terminals: reads are scheduled, writes are plain */
	FD_RANDOM,    /* /dev/urandom and /dev/random: what is read is the run's */
	FD_EVENT      /* eventfd, timerfd, epoll, ...: anything else that can be polled */
};

/* How a waiting operation finds out that it can go on; pointed to by engine_op.argument. */
enum fd_shape {
	FD_SHAPE_ONE,	 /* one descriptor, `events` */
	FD_SHAPE_POLL,	 /* an array of poll() */
	FD_SHAPE_SELECT, /* three sets */
	FD_SHAPE_RETRY	 /* nothing to ask: tried again after `epoch` has moved (file locks) */
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

/* What a call on this descriptor is: FD_PLAIN also for what is no descriptor at all. */
enum fd_class fd_classify(int fd);
bool fd_is_internal(int fd);
/* True if only members of the process family (family.h) can make the descriptor ready. */
bool fd_is_of_family(int fd);
/* Of one that has been classified: `result` bytes that have been read are replaced by the run's random numbers. */
void fd_randomise(int fd, const struct iovec *vector, int count, long result);
/* The object that this descriptor stands for, as an address for engine_op. Ends of a pipe share it. */
const void *fd_object(int fd);
/* Is it certain that what goes in or comes out there does so through this object? */
bool fd_object_is_whole(const void *object);
/* The descriptor as engine_op.number, for reports. */
uint16_t fd_number(int fd);
/* Makes a scheduling point for a call that does not wait. */
void fd_point(enum call_kind call, int fd, uint64_t site);
/* The descriptor has come into being. `peer`: the other end, or itself. */
void fd_opened(int fd, enum fd_class class, bool is_internal, int peer);
/* `copy` is a duplicate of `fd`. */
void fd_duplicated(int fd, int copy);
/* The number is free again, or its meaning is not known any more. */
void fd_forget(int fd);
/* epoll: waiting for `epoll_fd` also means to wait for `fd`. */
void fd_watched(int epoll_fd, int fd);
/* A child has copies of all there are. It may end, and leave them to a child of its own. */
void fd_were_inherited(void);
/* Another process may have a copy of this one. */
void fd_was_sent(int fd);
/* Would a call on it wait (no O_NONBLOCK)? */
bool fd_waits(int fd);

/* engine_ready of every request; pure. */
bool fd_request_ready(const struct engine_op *op, const struct engine_thread *thread);
/* Is there a descriptor in it that other processes can make ready? */
bool fd_request_is_external(const struct fd_request *request);
/*
 * The scheduling point of a descriptor operation. `op` comes with kind, site, deadline and ready;
 * this fills in the rest. Acts on cancellation itself.
 */
enum engine_result fd_perform(struct engine_op *op, struct fd_request *request);

/* A read or write that may have to wait: tried without waiting after the scheduling point. */
struct fd_transfer {
	int fd;
	uint8_t kind;	  /* OP_FD_READ or OP_FD_WRITE */
	uint8_t call;	  /* enum call_kind */
	bool never_waits; /* asked for by the call itself, such as MSG_DONTWAIT */
	uint64_t site;
	/* Raw result; must not wait: -EAGAIN instead. */
	long (*attempt)(const struct fd_transfer *transfer);
	/* For attempt(): */
	const struct iovec *vector;
	int vector_count;
	struct msghdr *message;
	int flags;
};

/* Are reads (writes) of this descriptor scheduling points? Never before the first thread. */
bool fd_is_scheduled(int fd, enum op_kind kind);
/* The whole of it: point, tries, waits, signals, socket time-outs. Raw result. */
long fd_transfer(const struct fd_transfer *transfer);
/* Gather write of everything unless the descriptor does not wait. Raw result. */
long fd_write_all(struct fd_transfer *transfer, const struct iovec *vector, int count);
/* For the undo log: `number` (SYS_read or SYS_write stand for their families) was done to fd. */
void fd_note(long number, int fd, long result);
/* A descriptor operation has had an effect: others that wait are asked again. */
void fd_changed(void);
/* File locks and listening queues: what waits with FD_SHAPE_RETRY tries again. */
void fd_retry_changed(void);
uint64_t fd_retry_epoch(void);

/* libc's end of programs that overran a buffer under _FORTIFY_SOURCE. */
void __chk_fail(void) __attribute__((noreturn));

/* ---- the real world: outside.c ---- */

/*
 * After an operation that only gives way: has anything outside become ready meanwhile? Threads that
 * wait for it would starve beside a loop that yields. Whether any thread waits for the outside.
 */
bool outside_look(void);
/* The last op failed for now (see engine_unproductive); outside, somebody may need time. */
void world_failed_try(bool is_external);

/* ---- processors: affinity.c ---- */

/* The processor on which the caller is said to run. */
unsigned int affinity_processor(void);

/* ---- children: children.c ---- */

#define CHILDREN_MAX 64
/*
 * Living children of this process. Returns how many there are, at most CHILDREN_MAX; a pid of 0 stands
 * for children that cannot be named.
 */
uint32_t children_alive(int pids[CHILDREN_MAX]);

/* ---- children that cannot go on: stuck_children.c ---- */

/* In a child that the target has forked: no thread of it can go on. It will stand still. */
void stuck_child_tell(const struct outcome *outcome);
/* In the process of the run. */
void stuck_children_begin_run(void);
/* The run ends, as nobody can go on: puts what the children wait for before what their parent's threads do. */
void stuck_children_add_waits(struct outcome *outcome);
/*
 * Lists threads of children in the run's evidence as created by their forker: the child's view of a thread, its
 * index in the run (THREAD_NONE: no room), and all such threads after the run's own.
 */
struct contract_thread stuck_child_describe(const struct engine_thread *thread);
struct thread_id stuck_children_add_thread(
	struct thread_id forker, const struct contract_thread *description);
void stuck_children_add_threads(struct contract_thread *threads, uint32_t *count);

/* ---- signals: signal_queue.c, signal_delivery.c, signal.c ---- */

/* Has a signal arrived that no thread has been told of? */
bool signals_arrived(void);
/* Has the target a handler for a signal that processes send each other? Not those of a terminal, or of its own faults. */
bool signals_have_handler_for_others(void);
/* Runs the handlers that wait for the caller now. Whether any ran. */
bool signals_deliver_now(void);
/* Did the handlers that ended the last wait of the caller all ask for SA_RESTART? */
bool signals_want_restart(void);
/* Called when the caller ends: reassigns signals of the process that were assigned to the caller. */
void signals_leave_thread(void);
/* For ppoll and its like: another mask meanwhile. Returns the old one. */
uint64_t signals_swap_mask(uint64_t mask);
/* A signal of our own making, such as a timer's: for `thread`, or (NULL) for the process. */
void signals_raise(struct engine_thread *thread, const siginfo_t *information);
/* The signal of a timer (timer_create) that has not been taken yet, NULL: there is none. */
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
