/*
 * Opens source files whose paths come from debug information or stored files. These paths are not
 * trusted: only regular files of bounded size are opened, and open never blocks.
 */
#pragma once

#include <stdbool.h>

struct stat;

/*
 * Returns a file descriptor and fills *status, or returns -1. If `follows_links` is false, the
 * function refuses a path that ends in a symbolic link.
 */
int source_file_open(const char *path, bool follows_links, struct stat *status);
