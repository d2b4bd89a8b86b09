/* Message queues and System V semaphores. The other end of a queue may be a thread of the same
 * process. A call is therefore made in a form that cannot block, and repeated when another thread
 * may have changed the queue. */
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

#define SEMAPHORE_OPS_MAX 64 /* larger calls are left to the kernel */

struct queue_call {
	long number;
	long arguments[5]; /* arguments of the form that cannot block */
	long would_wait;   /* result if the call would block */
	long timed_out;	   /* result after a time-out */
	uint64_t deadline_ns;
	uint64_t site;
	bool may_restart; /* after handlers with SA_RESTART */
	bool never_waits; /* IPC_NOWAIT: the first attempt is the result */
	short events;	  /* for poll(); 0: poll() does not know this queue */
};

/* Object of all queues: a change of one may end a wait for another. */
static const char any_queue;

static void queue_notifications_note_message(mqd_t queue);

static long queue_attempt(const struct queue_call *call)
{
	const long *a = call->arguments;
	long result = target_call(call->number, a[0], a[1], a[2], a[3], a[4]);

	if (result == call->would_wait)
		return result;
	if (call->number == SYS_mq_timedsend && !platform_failed(result))
		queue_notifications_note_message((mqd_t)a[0]);
	if (engine_is_live())
		runtime_taint_shared("used a message queue or a semaphore of the system");
	fd_retry_changed();
	(void)signals_deliver_now(); /* a notification of mq_notify() */
	return result;
}

static uint8_t queue_call_kind(const struct queue_call *call)
{
	switch (call->number) {
	case SYS_mq_timedsend:
	case SYS_msgsnd:
		return CALL_QUEUE_SEND;
	case SYS_mq_timedreceive:
	case SYS_msgrcv:
		return CALL_QUEUE_RECEIVE;
	default:
		return CALL_NONE;
	}
}

static long queue_perform(const struct queue_call *call)
{
	bool is_try = true;

	for (;;) {
		struct fd_request request = {.shape = call->events ? FD_SHAPE_ONE : FD_SHAPE_RETRY,
			.fd = call->events ? (int)call->arguments[0] : -1,
			.events = call->events,
			.epoch = fd_retry_epoch()};
		struct engine_op op = {.kind = OP_FD_WRITE,
			.call = queue_call_kind(call),
			.number = descriptor_number(DESCRIPTOR_QUEUE, (int)call->arguments[0]),
			.address = &any_queue,
			.site = call->site,
			.ready = is_try ? NULL : fd_request_ready,
			.deadline_ns = is_try ? ENGINE_FOREVER : call->deadline_ns};
		enum engine_result outcome = fd_perform(&op, &request);
		long result;

		result = queue_attempt(call);
		if (result != call->would_wait || call->never_waits)
			return result;
		if (outcome == WAIT_INTERRUPTED && !(call->may_restart && signals_want_restart()))
			return -EINTR;
		if (outcome == WAIT_TIMED_OUT)
			return call->timed_out;
		is_try = false;
	}
}

static const struct timespec long_ago;

static long queue_message_call(long number, const long arguments[6], short events, uint64_t site)
{
	const struct timespec *until = (const struct timespec *)arguments[4];
	struct queue_call call = {.number = number,
		.arguments = {arguments[0], arguments[1], arguments[2], arguments[3],
			(long)(uintptr_t)&long_ago},
		.events = events,
		.would_wait = -ETIMEDOUT,
		.timed_out = -ETIMEDOUT,
		.may_restart = true,
		.site = site};

	if (until && (!time_is_valid(until) || until->tv_sec < 0))
		return -EINVAL;
	call.deadline_ns = until ? runtime_deadline(CLOCK_REALTIME, until) : ENGINE_FOREVER;
	return queue_perform(&call);
}

long call_mq_timedsend(const long arguments[6], uint64_t site)
{
	return queue_message_call(SYS_mq_timedsend, arguments, POLLOUT, site);
}

long call_mq_timedreceive(const long arguments[6], uint64_t site)
{
	return queue_message_call(SYS_mq_timedreceive, arguments, POLLIN, site);
}

ANSWERED(int, mq_send, (mqd_t queue, const char *message, size_t bytes, unsigned priority),
	mq_timedsend, queue, message, bytes, priority);
ANSWERED(int, mq_timedsend,
	(mqd_t queue, const char *message, size_t bytes, unsigned priority,
		const struct timespec *until),
	mq_timedsend, queue, message, bytes, priority, until);
ANSWERED(ssize_t, mq_receive, (mqd_t queue, char *message, size_t bytes, unsigned *priority),
	mq_timedreceive, queue, message, bytes, priority);
ANSWERED(ssize_t, mq_timedreceive,
	(mqd_t queue, char *restrict message, size_t bytes, unsigned *restrict priority,
		const struct timespec *restrict until),
	mq_timedreceive, queue, message, bytes, priority, until);

#define NOTIFICATIONS_MAX 8

struct notification {
	bool is_used;
	bool was_empty; /* the queue was empty since mq_notify() */
	bool is_off;	/* the notification was cancelled */
	bool is_due;	/* the message has arrived; a thread may have received it since */
	mqd_t queue;
	void (*function)(union sigval);
	union sigval value;
};

/* Written by mq_notify() and the threads that it creates. */
static struct notification notifications[NOTIFICATIONS_MAX];

static bool queue_notification_is_due(
	const struct engine_op *op, const struct engine_thread *thread)
{
	struct notification *notification = (struct notification *)(uintptr_t)op->argument2;
	struct mq_attr state = {0};

	(void)thread;
	if (notification->is_off || platform_failed(platform_call(
					    SYS_mq_getsetattr, notification->queue, NULL, &state)))
		return true;
	notification->was_empty |= !state.mq_curmsgs;
	notification->is_due |= notification->was_empty && state.mq_curmsgs;
	return notification->is_due;
}

static bool queue_is_same(mqd_t first, mqd_t second)
{
	struct stat one, other;

	return first == second ||
	       (!platform_failed(platform_call(SYS_fstat, first, &one)) &&
		       !platform_failed(platform_call(SYS_fstat, second, &other)) &&
		       one.st_dev == other.st_dev && one.st_ino == other.st_ino);
}

/* Returns whether a receiver is blocked. It gets the message then, and POSIX requires no
 * notification. */
static bool queue_has_receiver(mqd_t queue)
{
	for (uint32_t i = 0; i < engine_thread_count(); i++) {
		const struct engine_op *op = engine_thread(i)->op;

		if (op && op->address == &any_queue && op->call == CALL_QUEUE_RECEIVE &&
			op->ready && op->number == descriptor_number(DESCRIPTOR_QUEUE, queue))
			return true;
	}
	return false;
}

static void queue_notifications_note_message(mqd_t queue)
{
	struct mq_attr state = {0};

	for (struct notification *at = notifications; at < notifications + NOTIFICATIONS_MAX;
		at++) {
		if (!at->is_used || at->is_off || !queue_is_same(at->queue, queue))
			continue;
		(void)platform_call(SYS_mq_getsetattr, queue, NULL, &state);
		if (state.mq_curmsgs != 1)
			continue;
		at->was_empty = !queue_has_receiver(queue);
		at->is_due |= at->was_empty;
	}
}

static bool queue_is_empty(mqd_t queue)
{
	struct mq_attr state = {0};

	(void)platform_call(SYS_mq_getsetattr, queue, NULL, &state);
	return !state.mq_curmsgs;
}

static void *queue_notification_thread(void *argument)
{
	struct notification *notification = argument;
	struct fd_request request = {.shape = FD_SHAPE_RETRY, .fd = -1, .epoch = 0};
	struct engine_op op = {.kind = OP_FD_POLL,
		.address = &any_queue,
		.ready = queue_notification_is_due,
		.deadline_ns = ENGINE_FOREVER,
		.argument2 = (uint64_t)(uintptr_t)notification};
	bool is_off;

	/* Handlers belong to the target's threads */
	engine_current()->signals_blocked = ~UINT64_C(0);
	(void)fd_perform(&op, &request);
	is_off = notification->is_off;
	notification->is_used = false;
	if (!is_off)
		notification->function(notification->value);
	return NULL;
}

static int queue_notify_by_thread(mqd_t queue, const struct sigevent *event)
{
	const struct sigevent silent = {.sigev_notify = SIGEV_NONE};
	struct notification *notification = notifications;
	long result = target_call(SYS_mq_notify, queue, &silent);
	int error;

	if (platform_failed(result))
		return (int)interpose_result(result);
	while (notification < notifications + NOTIFICATIONS_MAX && notification->is_used)
		notification++;
	if (notification == notifications + NOTIFICATIONS_MAX)
		return (int)interpose_result(-ENOMEM);
	*notification = (struct notification){.is_used = true,
		.was_empty = queue_is_empty(queue),
		.queue = queue,
		.function = event->sigev_notify_function,
		.value = event->sigev_value};
	error = runtime_start_detached(
		event->sigev_notify_attributes, queue_notification_thread, notification);
	if (error)
		notification->is_used = false;
	return (int)interpose_result(-error);
}

EXPORT int mq_notify(mqd_t queue, const struct sigevent *event)
{
	struct engine_op op = {.kind = OP_FD_WRITE,
		.call = CALL_QUEUE_NOTIFY,
		.number = descriptor_number(DESCRIPTOR_QUEUE, (int)queue),
		.address = &any_queue,
		.site = CALL_SITE,
		.deadline_ns = ENGINE_FOREVER};

	ENTER();
	/* The kernel gives no notification of a message that arrives before this call. */
	(void)engine_perform(&op); /* always WAIT_DONE */
	if (event && event->sigev_notify == SIGEV_THREAD)
		return queue_notify_by_thread(queue, event);
	for (int i = 0; !event && i < NOTIFICATIONS_MAX; i++)
		if (notifications[i].is_used && notifications[i].queue == queue)
			notifications[i].is_off = true;
	fd_retry_changed();
	return (int)interpose_result(target_call(SYS_mq_notify, queue, event));
}

long call_msgsnd(const long arguments[6], uint64_t site)
{
	struct queue_call call = {.number = SYS_msgsnd,
		.arguments = {arguments[0], arguments[1], arguments[2], arguments[3] | IPC_NOWAIT},
		.would_wait = -EAGAIN,
		.deadline_ns = ENGINE_FOREVER,
		.site = site,
		.never_waits = (arguments[3] & IPC_NOWAIT) != 0};

	return queue_perform(&call);
}

long call_msgrcv(const long arguments[6], uint64_t site)
{
	struct queue_call call = {.number = SYS_msgrcv,
		.arguments = {arguments[0], arguments[1], arguments[2], arguments[3],
			arguments[4] | IPC_NOWAIT},
		.would_wait = -ENOMSG,
		.deadline_ns = ENGINE_FOREVER,
		.site = site,
		.never_waits = (arguments[4] & IPC_NOWAIT) != 0};

	return queue_perform(&call);
}

ANSWERED(int, msgsnd, (int queue, const void *message, size_t bytes, int flags), msgsnd, queue,
	message, bytes, flags);
ANSWERED(ssize_t, msgrcv, (int queue, void *message, size_t bytes, long type, int flags), msgrcv,
	queue, message, bytes, type, flags);

static long queue_semaphores_change(int set, const struct sembuf *wanted, size_t count,
	const struct timespec *timeout, uint64_t site)
{
	struct sembuf tries[SEMAPHORE_OPS_MAX];
	struct queue_call call = {.number = SYS_semtimedop,
		.arguments = {set, (long)(uintptr_t)tries, (long)count},
		.would_wait = -EAGAIN,
		.timed_out = -EAGAIN,
		.site = site};

	if (count > SEMAPHORE_OPS_MAX || interpose_is_bad_pointer(wanted))
		return target_call(SYS_semtimedop, set, wanted, count, timeout);
	if (timeout && (!time_is_valid(timeout) || timeout->tv_sec < 0))
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		call.never_waits |= (wanted[i].sem_flg & IPC_NOWAIT) != 0;
		tries[i] = wanted[i];
		tries[i].sem_flg = (short)(tries[i].sem_flg | IPC_NOWAIT);
	}
	call.deadline_ns = timeout ? runtime_deadline_after(timeout) : ENGINE_FOREVER;
	return queue_perform(&call);
}

long call_semtimedop(const long arguments[6], uint64_t site)
{
	return queue_semaphores_change((int)arguments[0], (const struct sembuf *)arguments[1],
		(size_t)arguments[2], (const struct timespec *)arguments[3], site);
}

long call_semop(const long arguments[6], uint64_t site)
{
	const long without_timeout[6] = {arguments[0], arguments[1], arguments[2]};

	return call_semtimedop(without_timeout, site);
}

ANSWERED(int, semop, (int set, struct sembuf *wanted, size_t count), semop, set, wanted, count);
ANSWERED(int, semtimedop,
	(int set, struct sembuf *wanted, size_t count, const struct timespec *timeout), semtimedop,
	set, wanted, count, timeout);
