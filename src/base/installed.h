/* Finds the installed files of raddle relative to the executable of the command. */
#pragma once

#include "base/error.h"

/*
 * Sets *path to the absolute path of lib/raddle/<name>, in the build folder or the installation.
 * The caller frees *path.
 */
int installed_find(const char *name, char **path, struct error *err);
