#include "base/files/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"

static void regular_file_close(int fd)
{
	const int cause = errno;

	if (fd >= 0)
		(void)close(fd); /* the file was opened for reading */
	errno = cause;
}

int regular_file_open(int folder, const char *path, bool follows_links, struct stat *status)
{
	/* O_NONBLOCK: otherwise opening a FIFO would wait for its writer. */
	const int fd = openat(folder, path,
		O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follows_links ? 0 : O_NOFOLLOW));

	if (fd < 0 || (!fstat(fd, status) && S_ISREG(status->st_mode)))
		return fd;
	errno = EINVAL;
	regular_file_close(fd);
	return -1;
}

char *regular_file_read(int fd, size_t most, size_t *size)
{
	struct stat status;
	char *text = NULL;
	ssize_t got = -1;

	*size = 0;
	if (fd >= 0 && !fstat(fd, &status) && (size_t)status.st_size > most) {
		errno = EFBIG;
	} else if (fd >= 0) {
		text = array_new((size_t)status.st_size + 1, 1);
		while ((got = read(fd, text + *size, (size_t)status.st_size - *size)) > 0)
			*size += (size_t)got;
	}
	regular_file_close(fd);
	if (got == 0)
		return text;
	free(text);
	return NULL;
}
