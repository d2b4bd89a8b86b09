/* poll, select and epoll with their signal-mask variants. One announced operation waits for all
 * descriptors of the call. The result is the kernel's, from a call that does not block. */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

#define NS_PER_MS UINT64_C(1000000)

struct poll_call {
	struct fd_request request;
	const void *object;
	uint64_t site;
	uint64_t deadline_ns;
	uint8_t call;
	bool never_waits;
	const sigset_t *mask;
	/* Fills the caller's output without blocking. Returns the raw result. */
	long (*ask)(const struct poll_call *call);
	fd_set *out[3];
	struct epoll_event *events;
	int event_capacity;
};

/* Waits and makes the call under the current signal mask. */
static long poll_wait(struct poll_call *call)
{
	for (;;) {
		struct engine_op op = {.kind = OP_FD_POLL,
			.call = call->call,
			.address = call->object,
			.site = call->site,
			.ready = call->never_waits ? NULL : fd_request_ready,
			.deadline_ns = call->deadline_ns};
		enum engine_result reason = fd_perform(&op, &call->request);
		long result;

		if (reason == WAIT_INTERRUPTED)
			return -EINTR;
		result = call->ask(call);
		if (result || call->never_waits || reason == WAIT_TIMED_OUT) {
			if (!result && call->never_waits)
				world_failed_try(fd_request_is_external(&call->request));
			return result;
		}
	}
}

static long poll_perform(struct poll_call *call)
{
	uint64_t old_mask;
	long result;

	if (call->never_waits)
		call->deadline_ns = ENGINE_FOREVER;
	if (!call->mask)
		return poll_wait(call);
	call->request.has_own_mask = true;
	old_mask = signals_swap_mask(call->mask->__val[0]);
	/* A signal that the new mask unblocks ends the call even if a descriptor is ready. */
	result = signals_deliver_now() ? -EINTR : poll_wait(call);
	(void)signals_swap_mask(old_mask);
	(void)signals_deliver_now();
	return result;
}

static uint64_t poll_deadline_of_timespec(const struct timespec *timeout)
{
	return timeout ? time_after(time_from_timespec(timeout)) : ENGINE_FOREVER;
}

static long poll_ask(const struct poll_call *call)
{
	return target_call(SYS_poll, call->request.polls, call->request.count, 0);
}

/* Returns the object of the call: that of its first descriptor. */
static const void *poll_object(const struct pollfd *polls, nfds_t count)
{
	for (nfds_t i = 0; i < count; i++)
		if (polls[i].fd >= 0)
			return fd_object(polls[i].fd);
	return NULL;
}

static long poll_many(
	struct poll_call call, struct pollfd *polls, nfds_t count, const struct timespec *timeout)
{
	if (count && interpose_is_bad_pointer(polls))
		return -EFAULT;
	call.request = (struct fd_request){.shape = FD_SHAPE_POLL, .polls = polls, .count = count};
	call.object = poll_object(polls, count);
	call.ask = poll_ask;
	call.never_waits = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	call.deadline_ns = poll_deadline_of_timespec(timeout);
	return poll_perform(&call);
}

long call_poll(const long arguments[6], uint64_t site)
{
	int timeout = (int)arguments[2];
	struct timespec limit = time_to_timespec((uint64_t)(timeout > 0 ? timeout : 0) * NS_PER_MS);
	struct poll_call call = {.site = site};

	return poll_many(call, (struct pollfd *)arguments[0], (nfds_t)arguments[1],
		timeout < 0 ? NULL : &limit);
}

static bool poll_is_bad_timeout(const struct timespec *timeout)
{
	return timeout && (timeout->tv_sec < 0 || !time_is_valid(timeout));
}

/* Returns whether the mask has another size, which the kernel refuses. */
static bool poll_is_bad_mask(const void *mask, long bytes)
{
	return mask && bytes != sizeof(uint64_t);
}

/* libc's functions pass a copy, so the caller's value stays. */
static void poll_store_remaining_time(struct timespec *timeout, uint64_t end_ns)
{
	uint64_t now_ns;

	if (!timeout)
		return;
	now_ns = time_now_ns();
	*timeout = time_to_timespec(end_ns > now_ns ? end_ns - now_ns : 0);
}

long call_ppoll(const long arguments[6], uint64_t site)
{
	struct timespec *timeout = (struct timespec *)arguments[2];
	struct poll_call call = {.site = site, .mask = (const sigset_t *)arguments[3]};
	uint64_t end_ns;
	long result;

	if (poll_is_bad_timeout(timeout) || poll_is_bad_mask(call.mask, arguments[4]))
		return -EINVAL;
	end_ns = poll_deadline_of_timespec(timeout);
	result = poll_many(call, (struct pollfd *)arguments[0], (nfds_t)arguments[1], timeout);
	poll_store_remaining_time(timeout, end_ns);
	return result;
}

ANSWERED(
	int, poll, (struct pollfd * polls, nfds_t count, int timeout), poll, polls, count, timeout);

#define MASK_BYTES sizeof(uint64_t)

EXPORT int ppoll(
	struct pollfd *polls, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	struct timespec limit = timeout ? *timeout : (struct timespec){0};

	ENTER();
	return (int)interpose_result(
		ANSWER(ppoll, polls, count, timeout ? &limit : NULL, mask, MASK_BYTES));
}

int __poll(struct pollfd *polls, nfds_t count, int timeout);
int __poll_chk(struct pollfd *polls, nfds_t count, int timeout, size_t capacity);
int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, size_t capacity);

ANSWERED(int, __poll, (struct pollfd * polls, nfds_t count, int timeout), poll, polls, count,
	timeout);

EXPORT int __poll_chk(struct pollfd *polls, nfds_t count, int timeout, size_t capacity)
{
	ENTER();
	if (capacity / sizeof *polls < count)
		__chk_fail();
	return (int)interpose_result(ANSWER(poll, polls, count, timeout));
}

EXPORT int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, size_t capacity)
{
	struct timespec limit = timeout ? *timeout : (struct timespec){0};

	ENTER();
	if (capacity / sizeof *polls < count)
		__chk_fail();
	return (int)interpose_result(
		ANSWER(ppoll, polls, count, timeout ? &limit : NULL, mask, MASK_BYTES));
}

static long poll_ask_select(const struct poll_call *call)
{
	struct timeval none = {0};

	/* An earlier result of 0 has emptied the caller's sets. */
	for (int i = 0; i < 3; i++)
		if (call->out[i])
			*call->out[i] = *call->request.sets[i];
	return target_call(
		SYS_select, call->request.count, call->out[0], call->out[1], call->out[2], &none);
}

static const void *poll_select_object(const struct poll_call *call)
{
	for (int fd = 0; fd < (int)call->request.count; fd++)
		for (int i = 0; i < 3; i++)
			if (call->out[i] && FD_ISSET(fd, call->out[i]))
				return fd_object(fd);
	return NULL;
}

/* The caller sets site, mask and the three sets of `call`. */
static long poll_select_many(struct poll_call *call, int count, const struct timespec *timeout)
{
	fd_set wanted[3];

	if (count < 0 || poll_is_bad_timeout(timeout))
		return -EINVAL;
	if (count > FD_SETSIZE)
		count = FD_SETSIZE;
	call->request = (struct fd_request){.shape = FD_SHAPE_SELECT, .count = (uint64_t)count};
	for (int i = 0; i < 3; i++) {
		if (!call->out[i])
			continue;
		wanted[i] = *call->out[i];
		call->request.sets[i] = &wanted[i];
	}
	call->object = poll_select_object(call);
	call->ask = poll_ask_select;
	call->call = CALL_SELECT;
	call->never_waits = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	call->deadline_ns = poll_deadline_of_timespec(timeout);
	return poll_perform(call);
}

long call_select(const long arguments[6], uint64_t site)
{
	struct poll_call call = {.site = site,
		.out = {(fd_set *)arguments[1], (fd_set *)arguments[2], (fd_set *)arguments[3]}};
	struct timeval *timeout = (struct timeval *)arguments[4];
	struct timespec limit;
	uint64_t end_ns;
	long result;

	if (!timeout)
		return poll_select_many(&call, (int)arguments[0], NULL);
	limit = (struct timespec){.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
		.tv_nsec = timeout->tv_usec % 1000000 * 1000};
	if (poll_is_bad_timeout(&limit))
		return -EINVAL;
	end_ns = runtime_deadline_after(&limit);
	result = poll_select_many(&call, (int)arguments[0], &limit);
	poll_store_remaining_time(&limit, end_ns);
	timeout->tv_sec = limit.tv_sec;
	timeout->tv_usec = limit.tv_nsec / 1000;
	return result;
}

struct select_mask {
	const sigset_t *mask;
	size_t bytes;
};

long call_pselect6(const long arguments[6], uint64_t site)
{
	const struct select_mask *mask = (const struct select_mask *)arguments[5];
	struct timespec *timeout = (struct timespec *)arguments[4];
	struct poll_call call = {.site = site,
		.mask = mask ? mask->mask : NULL,
		.out = {(fd_set *)arguments[1], (fd_set *)arguments[2], (fd_set *)arguments[3]}};
	uint64_t end_ns;
	long result;

	if (poll_is_bad_timeout(timeout) ||
		poll_is_bad_mask(call.mask, mask ? (long)mask->bytes : 0))
		return -EINVAL;
	end_ns = poll_deadline_of_timespec(timeout);
	result = poll_select_many(&call, (int)arguments[0], timeout);
	poll_store_remaining_time(timeout, end_ns);
	return result;
}

ANSWERED(int, select,
	(int count, fd_set *restrict reads, fd_set *restrict writes, fd_set *restrict exceptions,
		struct timeval *restrict timeout),
	select, count, reads, writes, exceptions, timeout);

EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
	fd_set *restrict exceptions, const struct timespec *restrict timeout,
	const sigset_t *restrict mask)
{
	struct timespec limit = timeout ? *timeout : (struct timespec){0};
	const struct select_mask with_size = {.mask = mask, .bytes = MASK_BYTES};

	ENTER();
	return (int)interpose_result(ANSWER(
		pselect6, count, reads, writes, exceptions, timeout ? &limit : NULL, &with_size));
}

static long poll_ask_epoll(const struct poll_call *call)
{
	return target_call(
		SYS_epoll_pwait, call->request.fd, call->events, call->event_capacity, 0, NULL, 0);
}

/* The caller sets site and mask of `call`. */
static long poll_epoll_many(struct poll_call *call, int epoll_fd, struct epoll_event *events,
	int capacity, const struct timespec *timeout)
{
	if (capacity <= 0) /* the kernel refuses the call with the right error */
		return platform_call(SYS_epoll_pwait, epoll_fd, events, capacity, 0, NULL, 0);
	call->request =
		(struct fd_request){.shape = FD_SHAPE_ONE, .fd = epoll_fd, .events = POLLIN};
	call->object = fd_object(epoll_fd);
	call->ask = poll_ask_epoll;
	call->call = CALL_EPOLL_WAIT;
	call->events = events;
	call->event_capacity = capacity;
	call->never_waits = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	call->deadline_ns = poll_deadline_of_timespec(timeout);
	return poll_perform(call);
}

long call_epoll_pwait(const long arguments[6], uint64_t site)
{
	int timeout = (int)arguments[3];
	struct timespec limit = time_to_timespec((uint64_t)(timeout > 0 ? timeout : 0) * NS_PER_MS);
	struct poll_call call = {.site = site, .mask = (const sigset_t *)arguments[4]};

	if (poll_is_bad_mask(call.mask, arguments[5]))
		return -EINVAL;
	return poll_epoll_many(&call, (int)arguments[0], (struct epoll_event *)arguments[1],
		(int)arguments[2], timeout < 0 ? NULL : &limit);
}

long call_epoll_wait(const long arguments[6], uint64_t site)
{
	const long with_mask[6] = {arguments[0], arguments[1], arguments[2], arguments[3]};

	return call_epoll_pwait(with_mask, site);
}

long call_epoll_pwait2(const long arguments[6], uint64_t site)
{
	const struct timespec *timeout = (const struct timespec *)arguments[3];
	struct poll_call call = {.site = site, .mask = (const sigset_t *)arguments[4]};

	if (poll_is_bad_timeout(timeout) || poll_is_bad_mask(call.mask, arguments[5]))
		return -EINVAL;
	return poll_epoll_many(&call, (int)arguments[0], (struct epoll_event *)arguments[1],
		(int)arguments[2], timeout);
}

ANSWERED(int, epoll_wait, (int epoll_fd, struct epoll_event *events, int capacity, int timeout),
	epoll_wait, epoll_fd, events, capacity, timeout);
INTERPOSED(int, epoll_pwait,
	(int epoll_fd, struct epoll_event *events, int capacity, int timeout, const sigset_t *mask),
	(int)interpose_result(
		ANSWER(epoll_pwait, epoll_fd, events, capacity, timeout, mask, MASK_BYTES)));
INTERPOSED(int, epoll_pwait2,
	(int epoll_fd, struct epoll_event *events, int capacity, const struct timespec *timeout,
		const sigset_t *mask),
	(int)interpose_result(
		ANSWER(epoll_pwait2, epoll_fd, events, capacity, timeout, mask, MASK_BYTES)));
