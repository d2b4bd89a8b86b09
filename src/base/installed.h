/* The parts of raddle that are files of their own, found from where the command itself lies. */
#ifndef RADDLE_BASE_INSTALLED_H
#define RADDLE_BASE_INSTALLED_H

#include "base/error.h"

/* *path: to be freed; the full path of lib/raddle/<name>, as built or as installed. */
int installed_find(const char *name, char **path, struct error *err);

#endif
