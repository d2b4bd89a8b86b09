/* Reads a whole file into memory, for the readers in this folder. */
#pragma once

#include <stddef.h>

#include "base/error.h"

/* Longer files are refused: an endless pipe or device must not exhaust the memory. */
#define READ_FILE_BYTES_MAX ((size_t)1 << 30)

/* Reads the whole file; the caller frees *bytes. Fails if the file is missing, unreadable, a
 * folder, or too long. */
int read_whole_file(const char *path, char **bytes, size_t *size, struct error *err);
