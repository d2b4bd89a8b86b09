/*
 * Opens source files, whose paths come from debug information or from stored files and are not trusted: only regular
 * files of bounded size are opened, and opening never waits.
 */
#ifndef RADDLE_BASE_SOURCE_FILE_H
#define RADDLE_BASE_SOURCE_FILE_H

#include <stdbool.h>

struct stat;

/* Returns a descriptor and fills *status, or returns -1. Without `follows_links` a path that ends in a link is refused. */
int source_file_open(const char *path, bool follows_links, struct stat *status);

#endif
