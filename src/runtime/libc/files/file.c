/* Opening files, and operations at a position or as a whole. None waits for another thread (except
 * for FIFOs: fifo.c), so libc does the work, and its system call is trapped. This file makes them
 * cancellation points, and makes a thread yield that calls them in a loop. */
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "runtime/interpose.h"
#include "runtime/runtime.h"

/* The mode of open(), which exists only with flags that create a file. */
#define OPEN_MODE(flags)                                                                           \
	__extension__({                                                                            \
		mode_t mode_ = 0;                                                                  \
		if ((flags) & (O_CREAT | O_TMPFILE) & ~O_DIRECTORY) {                              \
			va_list list_;                                                             \
			va_start(list_, flags);                                                    \
			mode_ = va_arg(list_, mode_t);                                             \
			va_end(list_);                                                             \
		}                                                                                  \
		mode_;                                                                             \
	})

/* A trapped system call counts in runtime_pass() by itself (dispatch.c). */
static void file_begin_call(uint64_t site)
{
	runtime_test_cancel();
	if (!runtime.has_dispatch)
		runtime_pass(site);
}

EXPORT int open(const char *path, int flags, ...)
{
	ENTER();
	file_begin_call(CALL_SITE);
	return REAL(open)(path, flags, OPEN_MODE(flags));
}

EXPORT int open64(const char *path, int flags, ...)
{
	ENTER();
	file_begin_call(CALL_SITE);
	return REAL(open64)(path, flags, OPEN_MODE(flags));
}

EXPORT int openat(int directory, const char *path, int flags, ...)
{
	ENTER();
	file_begin_call(CALL_SITE);
	return REAL(openat)(directory, path, flags, OPEN_MODE(flags));
}

EXPORT int openat64(int directory, const char *path, int flags, ...)
{
	ENTER();
	file_begin_call(CALL_SITE);
	return REAL(openat64)(directory, path, flags, OPEN_MODE(flags));
}

/* Defines a cancellation point around libc's function. */
#define PASSES_ON(type, name, parameters, arguments)                                               \
	EXPORT type name parameters                                                                \
	{                                                                                          \
		ENTER();                                                                           \
		file_begin_call(CALL_SITE);                                                        \
		return REAL(name) arguments;                                                       \
	}

PASSES_ON(int, creat, (const char *path, mode_t mode), (path, mode))
PASSES_ON(int, creat64, (const char *path, mode_t mode), (path, mode))
PASSES_ON(ssize_t, pread, (int fd, void *buffer, size_t size, off_t at), (fd, buffer, size, at))
PASSES_ON(ssize_t, pread64, (int fd, void *buffer, size_t size, off64_t at), (fd, buffer, size, at))
PASSES_ON(ssize_t, pwrite, (int fd, const void *buffer, size_t size, off_t at),
	(fd, buffer, size, at))
PASSES_ON(ssize_t, pwrite64, (int fd, const void *buffer, size_t size, off64_t at),
	(fd, buffer, size, at))
PASSES_ON(ssize_t, preadv, (int fd, const struct iovec *vector, int count, off_t at),
	(fd, vector, count, at))
PASSES_ON(ssize_t, preadv64, (int fd, const struct iovec *vector, int count, off64_t at),
	(fd, vector, count, at))
PASSES_ON(ssize_t, pwritev, (int fd, const struct iovec *vector, int count, off_t at),
	(fd, vector, count, at))
PASSES_ON(ssize_t, pwritev64, (int fd, const struct iovec *vector, int count, off64_t at),
	(fd, vector, count, at))
PASSES_ON(int, fsync, (int fd), (fd))
PASSES_ON(int, fdatasync, (int fd), (fd))
PASSES_ON(int, msync, (void *start, size_t size, int flags), (start, size, flags))
