/* Scheduling point of descriptor operations, and the end of their waits. The kernel decides
 * readiness, by a poll that does not block. */
#include <poll.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "runtime/interpose.h"
#include "runtime/libc/file_point.h"
#include "runtime/libc/world.h"

/* Written around every wait (announced) and by fd_retry_changed (retry_epoch). */
static struct {
	/* threads in fd_perform; with 0, no wait depends on a change */
	uint32_t announced;
	uint64_t retry_epoch; /* grows when a lock or queue may have become free */
} waits;

static bool fd_one_ready(const struct fd_request *request)
{
	struct pollfd poll = {.fd = request->fd, .events = request->events};

	return platform_call(SYS_poll, &poll, 1, 0) != 0;
}

static bool fd_select_ready(const struct fd_request *request)
{
	struct timeval none = {0};
	fd_set copies[3];
	fd_set *sets[3];

	for (int i = 0; i < 3; i++) {
		sets[i] = request->sets[i] ? &copies[i] : NULL;
		if (sets[i])
			copies[i] = *request->sets[i];
	}
	return platform_call(SYS_select, request->count, sets[0], sets[1], sets[2], &none) != 0;
}

bool fd_request_ready(const struct engine_op *op, const struct engine_thread *thread)
{
	const struct fd_request *request = (const struct fd_request *)(uintptr_t)op->argument;

	(void)thread;
	switch ((enum fd_shape)request->shape) {
	case FD_SHAPE_ONE:
		return fd_one_ready(request);
	case FD_SHAPE_POLL:
		return platform_call(SYS_poll, request->polls, request->count, 0) != 0;
	case FD_SHAPE_SELECT:
		return fd_select_ready(request);
	case FD_SHAPE_RETRY:
		return request->epoch != waits.retry_epoch;
	}
	return true;
}

bool fd_request_is_external(const struct fd_request *request)
{
	switch ((enum fd_shape)request->shape) {
	case FD_SHAPE_ONE:
		return !fd_is_internal(request->fd);
	case FD_SHAPE_POLL:
		for (uint64_t i = 0; i < request->count; i++)
			if (request->polls[i].fd >= 0 && !fd_is_internal(request->polls[i].fd))
				return true;
		return false;
	case FD_SHAPE_SELECT:
		for (int fd = 0; fd < (int)request->count; fd++)
			for (int i = 0; i < 3; i++)
				if (request->sets[i] && FD_ISSET(fd, request->sets[i]) &&
					!fd_is_internal(fd))
					return true;
		return false;
	case FD_SHAPE_RETRY:
		return true;
	}
	return true;
}

/* Returns the request's first descriptor; -1: none. */
static int fd_first(const struct fd_request *request)
{
	if (request->shape == FD_SHAPE_POLL) {
		for (uint64_t i = 0; i < request->count; i++)
			if (request->polls[i].fd >= 0)
				return request->polls[i].fd;
		return -1;
	}
	if (request->shape == FD_SHAPE_SELECT) {
		for (int fd = 0; fd < (int)request->count; fd++)
			for (int i = 0; i < 3; i++)
				if (request->sets[i] && FD_ISSET(fd, request->sets[i]))
					return fd;
		return -1;
	}
	return request->fd;
}

enum engine_result fd_perform(struct engine_op *op, struct fd_request *request)
{
	const int fd = fd_first(request);
	enum engine_result result;

	/* The caller tested before the call whether a handler has run. */
	if (op->ready && !request->has_own_mask && engine_is_live() && signals_may_interrupt())
		engine_point(OP_BEFORE_WAIT, NULL, op->site);
	op->argument = (uint64_t)(uintptr_t)request;
	if (!op->number && fd >= 0)
		op->number = fd_number(fd);
	if (fd >= 0 && !op->second)
		op->second = file_point_second_of(fd);
	op->interruptions |= INTERRUPT_SIGNAL | INTERRUPT_CANCEL;
	op->is_guess = op->ready && request->shape == FD_SHAPE_RETRY;
	waits.announced++;
	result = engine_perform(op);
	waits.announced--;
	if (result == WAIT_CANCELLED)
		runtime_act_on_cancel();
	return result;
}

void fd_changed(void)
{
	if (!waits.announced)
		return;
	engine_changed_kind(OP_FD_READ);
	engine_changed_kind(OP_FD_WRITE);
	engine_changed_kind(OP_FD_POLL);
}

void fd_retry_changed(void)
{
	waits.retry_epoch++;
	fd_changed();
}

uint64_t fd_retry_epoch(void)
{
	return waits.retry_epoch;
}
