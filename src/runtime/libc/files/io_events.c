/* Waiting for events of io_submit(), for which libc has no functions. The kernel is polled without
 * blocking, repeatedly while the program waits for the outside world. */
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

#define EVENT_BYTES 32 /* struct io_event */

static bool io_events_wait(const char *any_event, uint64_t deadline_ns, uint64_t site, long *result)
{
	struct fd_request request = {.shape = FD_SHAPE_RETRY, .fd = -1, .epoch = fd_retry_epoch()};
	struct engine_op op = {.kind = OP_FD_POLL,
		.address = any_event,
		.site = site,
		.ready = fd_request_ready,
		.deadline_ns = deadline_ns};

	switch (fd_perform(&op, &request)) {
	case WAIT_INTERRUPTED:
		*result = -EINTR;
		return false;
	case WAIT_TIMED_OUT:
		*result = 0;
		return false;
	default:
		return true;
	}
}

long call_io_getevents(const long arguments[6], uint64_t site)
{
	static const char any_event;
	const struct timespec *timeout = (const struct timespec *)arguments[4];
	struct timespec none = {0};
	uint64_t deadline_ns;
	long done = 0, result;

	if (!engine_is_live())
		return CALL_OF_KERNEL;
	if (timeout && (!time_is_valid(timeout) || timeout->tv_sec < 0))
		return -EINVAL;
	deadline_ns = timeout ? runtime_deadline_after(timeout) : ENGINE_FOREVER;
	for (;;) {
		result = target_call(SYS_io_getevents, arguments[0], 0, arguments[2] - done,
			arguments[3] + done * EVENT_BYTES, &none);
		if (platform_failed(result))
			break;
		done += result;
		if (done >= arguments[1] || !io_events_wait(&any_event, deadline_ns, site, &result))
			break;
	}
	return done ? done : result;
}

struct events_mask {
	const uint64_t *mask;
	size_t bytes;
};

long call_io_pgetevents(const long arguments[6], uint64_t site)
{
	const struct events_mask *with_size = (const struct events_mask *)arguments[5];
	uint64_t old_mask;
	long result;

	if (!engine_is_live() || !with_size || !with_size->mask)
		return call_io_getevents(arguments, site);
	if (with_size->bytes != sizeof(uint64_t))
		return -EINVAL;
	old_mask = signals_swap_mask(*with_size->mask);
	result = signals_deliver_now() ? -EINTR : call_io_getevents(arguments, site);
	(void)signals_swap_mask(old_mask);
	(void)signals_deliver_now();
	return result;
}
