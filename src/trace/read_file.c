#include "trace/read_file_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_file_read_all(
	int fd, const char *path, char **bytes, size_t *size, struct error *err)
{
	size_t capacity = 1 << 16, length = 0;
	char *buffer = malloc(capacity);

	while (buffer) {
		const ssize_t got = read(fd, buffer + length, capacity - length);

		if (got == 0) {
			*bytes = buffer;
			*size = length;
			return 0;
		}
		if (got < 0 && errno != EINTR) {
			const int cause = errno;

			free(buffer);
			return error_set(err, ERROR_IO, "cannot read %s: %s; %s", path,
				strerror(cause),
				cause == EISDIR ? "give the file in that folder"
						: "check the disk");
		}
		length += got > 0 ? (size_t)got : 0;
		if (length == capacity) {
			char *grown = NULL;

			if (capacity >= READ_FILE_BYTES_MAX) {
				free(buffer);
				return error_set(err, ERROR_LIMIT,
					"%s is longer than 1 GiB, which no file of raddle's is; check the name",
					path);
			}
			capacity *= 2;
			grown = realloc(buffer, capacity);
			if (!grown)
				free(buffer);
			buffer = grown;
		}
	}
	return error_set(err, ERROR_NOMEM, "out of memory while reading %s; close something", path);
}

int read_whole_file(const char *path, char **bytes, size_t *size, struct error *err)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	int status;

	if (fd < 0)
		return error_set(err, errno == ENOENT ? ERROR_NOTFOUND : ERROR_IO,
			"cannot open %s: %s; check the name and its permissions", path,
			strerror(errno));
	status = read_file_read_all(fd, path, bytes, size, err);
	(void)close(fd); /* read-only: close cannot lose data */
	return status;
}
