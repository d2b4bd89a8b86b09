/* Asynchronous input and output of libc (aio_*, lio_listio). The engine cannot schedule libc's
 * helper threads, which libc creates without pthread_create. Each request therefore runs in a
 * controlled thread, which blocks like a read or write of the target. Its state is in the target's
 * aiocb, where libc keeps it. Requests on one descriptor run one after the other, like in libc. */
#include <aio.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"
#include "runtime/libc/world.h"

#define REQUESTS_MAX 256 /* unfinished requests; one more fails with EAGAIN */
#define GROUPS_MAX 32	 /* unfinished calls of lio_listio() with LIO_NOWAIT */
#define PRIORITY_MOST 20 /* libc's AIO_PRIO_DELTA_MAX */

enum aio_state { AIO_FREE, AIO_QUEUED, AIO_RUNNING, AIO_CANCELLED };
enum aio_operation { AIO_READ, AIO_WRITE, AIO_SYNC, AIO_SYNC_DATA };

/* Requests of one lio_listio() call, with one notification after the last. */
struct aio_group {
	uint32_t unfinished; /* 0: free */
	struct sigevent event;
};

struct aio_request {
	uint8_t state;
	uint8_t operation;
	uint64_t number;       /* requests in the order of creation */
	struct aiocb *control; /* not read after a cancellation: the target may have freed it */
	int fd;
	struct sigevent event;
	struct aio_group *group;
};

static bool aio_is_unfinished(const struct aio_request *request)
{
	return request->state == AIO_QUEUED || request->state == AIO_RUNNING;
}

/* Written by the functions below and by the threads that they create. */
static struct {
	struct aio_request requests[REQUESTS_MAX];
	struct aio_group groups[GROUPS_MAX];
	uint64_t made;
	char any; /* its address stands for all requests: any change wakes the waits on it */
} aio;

void aio_begin_child(void)
{
	memset(&aio, 0, sizeof aio);
}

static bool aio_is_pending(const struct aiocb *control)
{
	return control->__error_code == EINPROGRESS;
}

static void aio_notify(const struct sigevent *event)
{
	siginfo_t information = {.si_signo = event->sigev_signo, .si_code = SI_ASYNCIO};

	if (event->sigev_notify == SIGEV_THREAD) {
		event->sigev_notify_function(event->sigev_value);
	} else if (event->sigev_notify == SIGEV_SIGNAL) {
		information.si_pid = (int)platform_call(SYS_getpid);
		information.si_uid = (uid_t)platform_call(SYS_getuid);
		information.si_value = event->sigev_value;
		signals_raise(NULL, &information);
	}
}

/* Returns true if all earlier requests on its descriptor have ended, or it is cancelled. */
static bool aio_has_turn(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct aio_request *own = (const struct aio_request *)(uintptr_t)op->argument2;

	(void)thread;
	for (uint32_t i = 0; i < REQUESTS_MAX; i++) {
		const struct aio_request *other = &aio.requests[i];

		if (aio_is_unfinished(own) && aio_is_unfinished(other) &&
			other->number < own->number && other->fd == own->fd)
			return false;
	}
	return true;
}

static void aio_await_turn(struct aio_request *request)
{
	struct engine_op op = {.kind = OP_FD_POLL,
		.address = &aio.any,
		.ready = aio_has_turn,
		.deadline_ns = ENGINE_FOREVER,
		.argument2 = (uint64_t)(uintptr_t)request};

	(void)engine_perform(&op); /* neither a signal nor a cancellation ends this wait */
}

/* Reads or writes at the file position that the request names. Pipes and sockets have no position,
 * and a transfer on them may block. Returns the result of read() or write(). */
static ssize_t aio_carry_out(const struct aio_request *request)
{
	const struct aiocb *control = request->control;
	void *buffer = (void *)control->aio_buf;
	long result;

	switch ((enum aio_operation)request->operation) {
	case AIO_READ:
		result = target_call(SYS_pread64, control->aio_fildes, buffer, control->aio_nbytes,
			control->aio_offset);
		return result == -ESPIPE ? read(control->aio_fildes, buffer, control->aio_nbytes)
					 : interpose_result(result);
	case AIO_WRITE:
		result = target_call(SYS_pwrite64, control->aio_fildes, buffer, control->aio_nbytes,
			control->aio_offset);
		return result == -ESPIPE ? write(control->aio_fildes, buffer, control->aio_nbytes)
					 : interpose_result(result);
	case AIO_SYNC:
		return interpose_result(target_call(SYS_fsync, control->aio_fildes));
	default:
		return interpose_result(target_call(SYS_fdatasync, control->aio_fildes));
	}
}

/* Stores the result, after which the target may reuse its aiocb. */
static void aio_finish(struct aiocb *control, ssize_t result, int error)
{
	control->__return_value = result;
	control->__error_code = error;
	engine_changed(&aio.any);
}

static void *aio_thread(void *argument)
{
	struct aio_request *request = argument;
	struct aiocb *control = request->control;
	struct aio_group *group = request->group;
	const struct sigevent event = request->event;
	bool is_cancelled;
	ssize_t result = 0;

	/* Handlers belong to the target's threads */
	engine_current()->signals_blocked = ~UINT64_C(0);
	aio_await_turn(request);
	is_cancelled = request->state == AIO_CANCELLED;
	if (!is_cancelled) {
		request->state = AIO_RUNNING;
		result = aio_carry_out(request);
	}
	request->state = AIO_FREE;
	if (!is_cancelled)
		aio_finish(control, result, result < 0 ? errno : 0);
	aio_notify(&event);
	if (group && !--group->unfinished)
		aio_notify(&group->event);
	return NULL;
}

static struct aio_request *aio_free_request(void)
{
	for (uint32_t i = 0; i < REQUESTS_MAX; i++)
		if (aio.requests[i].state == AIO_FREE)
			return &aio.requests[i];
	return NULL;
}

/* Returns 0 or an errno. */
static int aio_ask(
	struct aiocb *control, enum aio_operation operation, struct aio_group *group, uint64_t site)
{
	struct aio_request *request = aio_free_request();
	pthread_t thread;
	int error;

	if (control->aio_reqprio < 0 || control->aio_reqprio > PRIORITY_MOST)
		return EINVAL;
	if (!request)
		return EAGAIN;
	*request = (struct aio_request){.state = AIO_QUEUED,
		.operation = (uint8_t)operation,
		.number = aio.made++,
		.control = control,
		.fd = control->aio_fildes,
		.event = control->aio_sigevent,
		.group = group};
	control->__error_code = EINPROGRESS;
	control->__return_value = 0;
	if (group)
		group->unfinished++;
	error = runtime_thread_create(&thread, NULL, aio_thread, request, site);
	if (!error)
		return runtime_thread_detach(thread, site);
	if (group)
		group->unfinished--;
	request->state = AIO_FREE;
	aio_finish(control, -1, error);
	return error;
}

INTERPOSED(int, aio_read, (struct aiocb * control),
	(int)interpose_result(-aio_ask(control, AIO_READ, NULL, CALL_SITE)));
INTERPOSED(int, aio_write, (struct aiocb * control),
	(int)interpose_result(-aio_ask(control, AIO_WRITE, NULL, CALL_SITE)));

EXPORT int aio_fsync(int operation, struct aiocb *control)
{
	long flags;

	ENTER();
	if (operation != O_SYNC && operation != O_DSYNC)
		return (int)interpose_result(-EINVAL);
	flags = platform_call(SYS_fcntl, control->aio_fildes, F_GETFL);
	if (platform_failed(flags) || (flags & O_ACCMODE) == O_RDONLY)
		return (int)interpose_result(-EBADF);
	return (int)interpose_result(
		-aio_ask(control, operation == O_SYNC ? AIO_SYNC : AIO_SYNC_DATA, NULL, CALL_SITE));
}

/* Polls a request. A thread that polls an unfinished request counts as waiting, so that others are
 * scheduled. */
EXPORT int aio_error(const struct aiocb *control)
{
	ENTER();
	if (!aio_is_pending(control))
		return control->__error_code;
	engine_point(OP_FD_POLL, &aio.any, CALL_SITE);
	if (aio_is_pending(control))
		engine_unproductive();
	return control->__error_code;
}

INTERPOSED(ssize_t, aio_return, (struct aiocb * control), control->__return_value);

struct aio_list {
	const struct aiocb *const *controls;
	int count;
	bool for_all;
};

/* Returns whether one request of the list is done, or (`for_all`) every request. */
static bool aio_list_is_done(const struct aio_list *list)
{
	bool has_pending = false;

	for (int i = 0; i < list->count; i++) {
		const struct aiocb *control = list->controls[i];

		if (!control)
			continue;
		if (aio_is_pending(control))
			has_pending = true;
		else if (!list->for_all)
			return true;
	}
	return !has_pending;
}

static bool aio_list_is_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	(void)thread;
	return aio_list_is_done((const struct aio_list *)(uintptr_t)op->argument2);
}

/* Returns 0, -EAGAIN (time-out) or -EINTR; acts on cancellation. */
static long aio_list_wait(
	const struct aio_list *list, const struct timespec *timeout, uint64_t site)
{
	struct engine_op op = {.kind = OP_FD_POLL,
		.interruptions = INTERRUPT_SIGNAL | INTERRUPT_CANCEL,
		.address = &aio.any,
		.site = site,
		.ready = aio_list_is_ready,
		.deadline_ns = timeout ? runtime_deadline_after(timeout) : ENGINE_FOREVER,
		.argument2 = (uint64_t)(uintptr_t)list};

	switch (engine_perform(&op)) {
	case WAIT_CANCELLED:
		runtime_act_on_cancel();
	case WAIT_INTERRUPTED:
		return -EINTR;
	case WAIT_TIMED_OUT:
		return -EAGAIN;
	default:
		return 0;
	}
}

EXPORT int aio_suspend(
	const struct aiocb *const controls[], int count, const struct timespec *timeout)
{
	const struct aio_list list = {.controls = controls, .count = count};

	ENTER();
	if (count < 0 || (timeout && !time_is_valid(timeout)))
		return (int)interpose_result(-EINVAL);
	return (int)interpose_result(aio_list_wait(&list, timeout, CALL_SITE));
}

EXPORT int aio_cancel(int fd, struct aiocb *control)
{
	int result = AIO_ALLDONE;

	ENTER();
	if (platform_failed(platform_call(SYS_fcntl, fd, F_GETFL)))
		return (int)interpose_result(-EBADF);
	if (control && control->aio_fildes != fd)
		return (int)interpose_result(-EINVAL);
	for (uint32_t i = 0; i < REQUESTS_MAX; i++) {
		struct aio_request *request = &aio.requests[i];

		if (!aio_is_unfinished(request) || request->fd != fd ||
			(control && request->control != control))
			continue;
		if (request->state == AIO_RUNNING) {
			result = AIO_NOTCANCELED;
			continue;
		}
		request->state = AIO_CANCELLED;
		aio_finish(request->control, -1, ECANCELED);
		if (result == AIO_ALLDONE)
			result = AIO_CANCELED;
	}
	return result;
}

static struct aio_group *aio_free_group(void)
{
	for (uint32_t i = 0; i < GROUPS_MAX; i++)
		if (!aio.groups[i].unfinished)
			return &aio.groups[i];
	return NULL;
}

/* Returns false if a request could not be started. */
static bool aio_ask_all(
	struct aiocb *const *controls, int count, struct aio_group *group, uint64_t site)
{
	bool are_asked = true;

	for (int i = 0; i < count; i++) {
		struct aiocb *control = controls[i];
		enum aio_operation operation;

		if (!control || control->aio_lio_opcode == LIO_NOP)
			continue;
		operation = control->aio_lio_opcode == LIO_READ ? AIO_READ : AIO_WRITE;
		if (control->aio_lio_opcode == LIO_READ || control->aio_lio_opcode == LIO_WRITE)
			are_asked &= !aio_ask(control, operation, group, site);
		else
			are_asked = false;
	}
	return are_asked;
}

static long aio_ask_and_wait(struct aiocb *const *controls, int count, uint64_t site)
{
	const struct aio_list list = {
		.controls = (const struct aiocb *const *)controls, .count = count, .for_all = true};
	const bool are_asked = aio_ask_all(controls, count, NULL, site);
	const long result = aio_list_wait(&list, NULL, site);

	if (result)
		return result;
	for (int i = 0; i < count; i++)
		if (controls[i] && controls[i]->aio_lio_opcode != LIO_NOP &&
			controls[i]->__error_code)
			return -EIO;
	return are_asked ? 0 : -EIO;
}

EXPORT int lio_listio(
	int mode, struct aiocb *const controls[], int count, struct sigevent *restrict event)
{
	static const struct sigevent silent = {.sigev_notify = SIGEV_NONE};
	struct aio_group *group;
	bool are_asked;

	ENTER();
	if ((mode != LIO_WAIT && mode != LIO_NOWAIT) || count < 0)
		return (int)interpose_result(-EINVAL);
	if (mode == LIO_WAIT)
		return (int)interpose_result(aio_ask_and_wait(controls, count, CALL_SITE));
	group = aio_free_group();
	if (!group)
		return (int)interpose_result(-EAGAIN);
	/* Holds one extra count until all requests are started, so that early ends do not
	 * notify. */
	*group = (struct aio_group){.unfinished = 1, .event = event ? *event : silent};
	are_asked = aio_ask_all(controls, count, group, CALL_SITE);
	if (!--group->unfinished)
		aio_notify(&group->event);
	return (int)interpose_result(are_asked ? 0 : -EIO);
}

_Static_assert(sizeof(struct aiocb) == sizeof(struct aiocb64), "one struct, two names");

#define SAME_AS(name) EXPORT __typeof__(name##64) name##64 __attribute__((alias(#name)))
SAME_AS(aio_read);
SAME_AS(aio_write);
SAME_AS(aio_fsync);
SAME_AS(aio_error);
SAME_AS(aio_return);
SAME_AS(aio_suspend);
SAME_AS(aio_cancel);
SAME_AS(lio_listio);
