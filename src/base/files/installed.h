/* Finds the installed files of raddle relative to the executable of the command. */
#pragma once

#include "base/error.h"

/*
 * Sets *path to the absolute path of lib/raddle/<name>, in the build folder or the installation.
 * The caller frees *path.
 */
int installed_find(const char *name, char **path, struct error *err);

struct installed_library {
	const char *name;
	const char *packages; /* what the user installs if the library cannot be loaded */
	const char *entry;    /* symbol */
	int scope;	      /* RTLD_LOCAL or RTLD_GLOBAL */
};

/* Loads the library for the rest of the process, and stores the function at `entry` in the function
 * pointer *entry. */
int installed_load(const struct installed_library *library, void *entry, struct error *err);
