/* Writes until all bytes are written, also after signals. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Returns false if the descriptor does not take all bytes; errno has the reason. */
static inline bool write_all(int descriptor, const void *bytes, size_t size)
{
	const char *at = bytes;

	while (size) {
		const ssize_t written = write(descriptor, at, size);

		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0)
			return false;
		at += written;
		size -= (size_t)written;
	}
	return true;
}
