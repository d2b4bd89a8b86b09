/* Reads a whole file into memory, for the readers of this folder. */
#ifndef RADDLE_TRACE_READ_FILE_INTERNAL_H
#define RADDLE_TRACE_READ_FILE_INTERNAL_H

#include <stddef.h>

#include "base/error.h"

/* More is refused: a pipe or device without an end must not eat the memory of the machine. */
#define READ_FILE_BYTES_MAX ((size_t)1 << 30)

/* *bytes is freed by the caller. Clear errors for what is not there, not readable, a folder, too
 * long. */
int read_whole_file(const char *path, char **bytes, size_t *size, struct error *err);

#endif
