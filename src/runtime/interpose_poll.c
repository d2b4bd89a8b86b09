/*
 * poll, select and epoll with their signal-mask variants. One announced operation waits for all
 * descriptors of the call; the answer itself is always the kernel's, asked without waiting.
 * Runs in the target's moving thread.
 */
#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/world.h"

#define NS_PER_MS UINT64_C(1000000)

/* One call of the family. */
struct poll_call {
	struct fd_request request;
	const void *object;
	uint64_t site;
	uint64_t deadline_ns;
	bool never_waits; /* a time limit of 0 */
	const sigset_t *mask;
	/* Raw result of asking without waiting; fills what the caller gave. */
	long (*ask)(const struct poll_call *call);
	fd_set *out[3];
	struct epoll_event *events;
	int event_capacity;
};

/* The wait and the answer, under the mask that is in force already. */
static long poll_wait(struct poll_call *call)
{
	for (;;) {
		struct engine_op op = {.kind = OP_FD_POLL,
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
	old_mask = signals_swap_mask(call->mask->__val[0]);
	/* What the new mask lets through ends the call, whatever is ready. */
	result = signals_deliver_now() ? -EINTR : poll_wait(call);
	(void)signals_swap_mask(old_mask);
	(void)signals_deliver_now();
	return result;
}

static uint64_t deadline_of_timespec(const struct timespec *timeout)
{
	return timeout ? time_after(time_from_timespec(timeout)) : ENGINE_FOREVER;
}

/* ---- poll ---- */

static long ask_poll(const struct poll_call *call)
{
	return target_call(SYS_poll, call->request.polls, call->request.count, 0);
}

/* The object that stands for the call: its first descriptor that others may change. */
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
	call.request = (struct fd_request){.shape = FD_SHAPE_POLL, .polls = polls, .count = count};
	call.object = poll_object(polls, count);
	call.ask = ask_poll;
	call.never_waits = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	call.deadline_ns = deadline_of_timespec(timeout);
	return poll_perform(&call);
}

static int poll_ms(struct pollfd *polls, nfds_t count, int timeout, uint64_t site)
{
	struct timespec limit = time_to_timespec((uint64_t)(timeout > 0 ? timeout : 0) * NS_PER_MS);
	struct poll_call call = {.site = site};

	return (int)interpose_result(poll_many(call, polls, count, timeout < 0 ? NULL : &limit));
}

static int poll_masked(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, uint64_t site)
{
	struct poll_call call = {.site = site, .mask = mask};

	if (timeout && (timeout->tv_sec < 0 || !time_is_valid(timeout))) {
		errno = EINVAL;
		return -1;
	}
	return (int)interpose_result(poll_many(call, polls, count, timeout));
}

EXPORT int poll(struct pollfd *polls, nfds_t count, int timeout)
{
	ENTER();
	return poll_ms(polls, count, timeout, CALL_SITE);
}

EXPORT int ppoll(
	struct pollfd *polls, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
	ENTER();
	return poll_masked(polls, count, timeout, mask, CALL_SITE);
}

int __poll(struct pollfd *polls, nfds_t count, int timeout);
int __poll_chk(struct pollfd *polls, nfds_t count, int timeout, size_t capacity);
int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, size_t capacity);

EXPORT int __poll(struct pollfd *polls, nfds_t count, int timeout)
{
	ENTER();
	return poll_ms(polls, count, timeout, CALL_SITE);
}

EXPORT int __poll_chk(struct pollfd *polls, nfds_t count, int timeout, size_t capacity)
{
	ENTER();
	if (capacity / sizeof *polls < count)
		__chk_fail();
	return poll_ms(polls, count, timeout, CALL_SITE);
}

EXPORT int __ppoll_chk(struct pollfd *polls, nfds_t count, const struct timespec *timeout,
	const sigset_t *mask, size_t capacity)
{
	ENTER();
	if (capacity / sizeof *polls < count)
		__chk_fail();
	return poll_masked(polls, count, timeout, mask, CALL_SITE);
}

/* ---- select ---- */

static long ask_select(const struct poll_call *call)
{
	struct timeval none = {0};

	/* An answer of 0 has emptied the caller's sets where another thread was faster. */
	for (int i = 0; i < 3; i++)
		if (call->out[i])
			*call->out[i] = *call->request.sets[i];
	return target_call(
		SYS_select, call->request.count, call->out[0], call->out[1], call->out[2], &none);
}

static const void *select_object(const struct poll_call *call)
{
	for (int fd = 0; fd < (int)call->request.count; fd++)
		for (int i = 0; i < 3; i++)
			if (call->out[i] && FD_ISSET(fd, call->out[i]))
				return fd_object(fd);
	return NULL;
}

/* `call` comes with site, mask and the three sets. */
static long select_many(struct poll_call *call, int count, const struct timespec *timeout)
{
	fd_set wanted[3];

	if (count < 0 || (timeout && (timeout->tv_sec < 0 || !time_is_valid(timeout))))
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
	call->object = select_object(call);
	call->ask = ask_select;
	call->never_waits = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	call->deadline_ns = deadline_of_timespec(timeout);
	return poll_perform(call);
}

EXPORT int select(int count, fd_set *restrict reads, fd_set *restrict writes,
	fd_set *restrict exceptions, struct timeval *restrict timeout)
{
	struct poll_call call = {.site = CALL_SITE, .out = {reads, writes, exceptions}};
	struct timespec limit = {0};
	uint64_t end_ns;
	uint64_t now_ns;
	long result;

	ENTER();
	if (!timeout)
		return (int)interpose_result(select_many(&call, count, NULL));
	limit = (struct timespec){.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000,
		.tv_nsec = timeout->tv_usec % 1000000 * 1000};
	end_ns = runtime_deadline_after(&limit);
	result = select_many(&call, count, &limit);
	/* Linux tells what is left of the time. */
	now_ns = time_now_ns();
	limit = time_to_timespec(end_ns > now_ns ? end_ns - now_ns : 0);
	timeout->tv_sec = limit.tv_sec;
	timeout->tv_usec = limit.tv_nsec / 1000;
	return (int)interpose_result(result);
}

EXPORT int pselect(int count, fd_set *restrict reads, fd_set *restrict writes,
	fd_set *restrict exceptions, const struct timespec *restrict timeout,
	const sigset_t *restrict mask)
{
	struct poll_call call = {
		.site = CALL_SITE, .mask = mask, .out = {reads, writes, exceptions}};

	ENTER();
	return (int)interpose_result(select_many(&call, count, timeout));
}

/* ---- epoll ---- */

static long ask_epoll(const struct poll_call *call)
{
	return target_call(
		SYS_epoll_pwait, call->request.fd, call->events, call->event_capacity, 0, NULL, 0);
}

/* `call` comes with site and mask. */
static int epoll_many(struct poll_call *call, int epoll_fd, struct epoll_event *events,
	int capacity, const struct timespec *timeout)
{
	call->request =
		(struct fd_request){.shape = FD_SHAPE_ONE, .fd = epoll_fd, .events = POLLIN};
	call->object = fd_object(epoll_fd);
	call->ask = ask_epoll;
	call->events = events;
	call->event_capacity = capacity;
	call->never_waits = timeout && !timeout->tv_sec && !timeout->tv_nsec;
	call->deadline_ns = deadline_of_timespec(timeout);
	if (capacity <= 0)
		return (int)interpose_result(-EINVAL);
	return (int)interpose_result(poll_perform(call));
}

static int epoll_ms(
	struct poll_call *call, int epoll_fd, struct epoll_event *events, int capacity, int timeout)
{
	struct timespec limit = time_to_timespec((uint64_t)(timeout > 0 ? timeout : 0) * NS_PER_MS);

	return epoll_many(call, epoll_fd, events, capacity, timeout < 0 ? NULL : &limit);
}

EXPORT int epoll_wait(int epoll_fd, struct epoll_event *events, int capacity, int timeout)
{
	struct poll_call call = {.site = CALL_SITE};

	ENTER();
	return epoll_ms(&call, epoll_fd, events, capacity, timeout);
}

EXPORT int epoll_pwait(
	int epoll_fd, struct epoll_event *events, int capacity, int timeout, const sigset_t *mask)
{
	struct poll_call call = {.site = CALL_SITE, .mask = mask};

	ENTER();
	return epoll_ms(&call, epoll_fd, events, capacity, timeout);
}

EXPORT int epoll_pwait2(int epoll_fd, struct epoll_event *events, int capacity,
	const struct timespec *timeout, const sigset_t *mask)
{
	struct poll_call call = {.site = CALL_SITE, .mask = mask};

	ENTER();
	if (timeout && (timeout->tv_sec < 0 || !time_is_valid(timeout)))
		return (int)interpose_result(-EINVAL);
	return epoll_many(&call, epoll_fd, events, capacity, timeout);
}

/* ---- trapped system calls: the resolver and others inside libc ---- */

bool poll_emulate(long number, const long arguments[6], uint64_t site, long *result)
{
	struct poll_call call = {.site = site};
	struct timespec limit =
		time_to_timespec((uint64_t)(arguments[2] > 0 ? (int)arguments[2] : 0) * NS_PER_MS);

	if (number != SYS_poll)
		return false;
	*result = poll_many(call, (struct pollfd *)arguments[0], (nfds_t)arguments[1],
		(int)arguments[2] < 0 ? NULL : &limit);
	return true;
}
