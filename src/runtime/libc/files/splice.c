/* splice, tee and sendfile, either descriptor of which may block. The kernel is called only in a
 * form that cannot block; otherwise the thread waits for the side that is not ready
 * (fd_transfer.c). */
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "runtime/interpose.h"
#include "runtime/libc/system_calls.h"
#include "runtime/libc/world.h"

/* Distinct from the kernel's results: the other side is not ready. */
#define OTHER_SIDE (-4096L)

struct splice {
	struct fd_transfer transfer; /* transfer on the side that the thread waits for */
	long number;
	int in, out;
	off64_t *in_offset, *out_offset;
	size_t bytes;
	unsigned int flags;
};

/* O_NONBLOCK is set during the call, because a socket as target would block. */
static long splice_call(const struct splice *splice)
{
	const long flags = platform_call(SYS_fcntl, splice->out, F_GETFL);
	const bool is_reported = fd_waits(splice->out);
	long result;

	if (is_reported)
		(void)platform_call(SYS_fcntl, splice->out, F_SETFL, flags | O_NONBLOCK);
	if (splice->number == SYS_sendfile)
		result = platform_call(
			SYS_sendfile, splice->out, splice->in, splice->in_offset, splice->bytes);
	else if (splice->number == SYS_tee)
		result = platform_call(SYS_tee, splice->in, splice->out, splice->bytes,
			splice->flags | SPLICE_F_NONBLOCK);
	else
		result = platform_call(SYS_splice, splice->in, splice->in_offset, splice->out,
			splice->out_offset, splice->bytes, splice->flags | SPLICE_F_NONBLOCK);
	if (is_reported)
		(void)platform_call(SYS_fcntl, splice->out, F_SETFL, flags);
	return result;
}

static long splice_attempt(const struct fd_transfer *transfer)
{
	const struct splice *splice =
		(const void *)((const char *)transfer - offsetof(struct splice, transfer));
	const bool can_read = fd_polls_ready(splice->in, POLLIN);
	long result = can_read ? splice_call(splice) : -EAGAIN;

	if (result == -EAGAIN)
		return can_read == (transfer->kind == OP_FD_READ) && !transfer->never_waits
			       ? OTHER_SIDE
			       : -EAGAIN;
	if (splice->number != SYS_tee)
		fd_note(SYS_read, splice->in, result);
	fd_note(SYS_write, splice->out, result);
	return result;
}

static bool splice_never_waits(const struct splice *splice)
{
	return splice->flags & SPLICE_F_NONBLOCK ||
	       !(fd_waits(splice->in) && fd_waits(splice->out));
}

/* Repeats the call until it moves data or fails. Returns the raw result. */
static long splice_once(struct splice *splice, uint64_t site)
{
	bool is_reading = fd_is_scheduled(splice->in, OP_FD_READ);
	long result;

	do {
		splice->transfer = (struct fd_transfer){.fd = is_reading ? splice->in : splice->out,
			.kind = is_reading ? OP_FD_READ : OP_FD_WRITE,
			.never_waits = splice_never_waits(splice),
			.site = site,
			.attempt = splice_attempt};
		result = fd_transfer(&splice->transfer);
		is_reading = !is_reading;
	} while (result == OTHER_SIDE);
	return result;
}

static bool splice_is_open(int fd)
{
	return !platform_failed(platform_call(SYS_fcntl, fd, F_GETFD));
}

static bool splice_is_scheduled(const struct splice *splice)
{
	return engine_is_live() && splice->bytes && splice_is_open(splice->in) &&
	       splice_is_open(splice->out) &&
	       (fd_is_scheduled(splice->in, OP_FD_READ) ||
		       fd_is_scheduled(splice->out, OP_FD_WRITE));
}

long call_splice(const long arguments[6], uint64_t site)
{
	struct splice splice = {.number = SYS_splice,
		.in = (int)arguments[0],
		.in_offset = (off64_t *)arguments[1],
		.out = (int)arguments[2],
		.out_offset = (off64_t *)arguments[3],
		.bytes = (size_t)arguments[4],
		.flags = (unsigned int)arguments[5]};

	return splice_is_scheduled(&splice)
		       ? splice_once(&splice, site)
		       : target_call(SYS_splice, arguments[0], arguments[1], arguments[2],
				 arguments[3], arguments[4], arguments[5]);
}

long call_tee(const long arguments[6], uint64_t site)
{
	struct splice splice = {.number = SYS_tee,
		.in = (int)arguments[0],
		.out = (int)arguments[1],
		.bytes = (size_t)arguments[2],
		.flags = (unsigned int)arguments[3]};

	return splice_is_scheduled(&splice) ? splice_once(&splice, site)
					    : target_call(SYS_tee, arguments[0], arguments[1],
						      arguments[2], arguments[3]);
}

/* A blocking descriptor receives everything, like with write(). */
long call_sendfile(const long arguments[6], uint64_t site)
{
	const size_t bytes = (size_t)arguments[3];
	struct splice splice = {.number = SYS_sendfile,
		.out = (int)arguments[0],
		.in = (int)arguments[1],
		.in_offset = (off64_t *)arguments[2],
		.bytes = bytes};
	size_t sent = 0;
	long result;

	if (!splice_is_scheduled(&splice))
		return target_call(
			SYS_sendfile, arguments[0], arguments[1], arguments[2], arguments[3]);
	do {
		result = splice_once(&splice, site);
		if (result > 0)
			sent += (size_t)result;
		splice.bytes = bytes - sent;
	} while (result > 0 && splice.bytes && !splice_never_waits(&splice));
	return sent ? (long)sent : result;
}

ANSWERED(ssize_t, splice,
	(int in, off64_t *in_offset, int out, off64_t *out_offset, size_t bytes,
		unsigned int flags),
	splice, in, in_offset, out, out_offset, bytes, flags);
ANSWERED(ssize_t, tee, (int in, int out, size_t bytes, unsigned int flags), tee, in, out, bytes,
	flags);
ANSWERED(ssize_t, sendfile, (int out, int in, off_t *offset, size_t bytes), sendfile, out, in,
	offset, bytes);
ANSWERED(ssize_t, sendfile64, (int out, int in, off64_t *offset, size_t bytes), sendfile, out, in,
	offset, bytes);
