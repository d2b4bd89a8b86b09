#include "base/source_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Larger files are not read: no person writes a source file of this size. */
#define FILE_BYTES_MAX (8 << 20)

int source_file_open(const char *path, bool follows_links, struct stat *status)
{
	const int fd = open(path,
		O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follows_links ? 0 : O_NOFOLLOW));

	if (fd >= 0 && !fstat(fd, status) && S_ISREG(status->st_mode) &&
		status->st_size <= FILE_BYTES_MAX)
		return fd;
	if (fd >= 0)
		(void)close(fd); /* nothing was written */
	return -1;
}
