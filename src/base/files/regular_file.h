/*
 * Opens and reads regular files. Their paths come from debug information, stored files and stores
 * of other users. They are not trusted: other kinds of file are refused, and opening never blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct stat;

/* No person writes a larger source file. */
#define SOURCE_BYTES_MAX ((size_t)8 << 20)

/*
 * Opens a file for reading and writes its metadata, as of fstat(), to *status. A relative path is
 * looked up in the folder with the descriptor `folder`; AT_FDCWD stands for the working folder. If `follows_links` is false, a path that ends in a symbolic link
 * is refused. Returns -1 on failure, and errno has the cause.
 */
int regular_file_open(int folder, const char *path, bool follows_links, struct stat *status);

/*
 * Reads and closes a file that regular_file_open() has opened; -1 is accepted. Returns its bytes
 * with a NUL behind them, which the caller frees. Returns NULL if the file is unreadable or has more
 * than `most` bytes, and errno has the cause.
 */
char *regular_file_read(int fd, size_t most, size_t *size);
