/* Names of files without their folders. */
#pragma once

#include <string.h>

/* Returns the part of a path behind its last slash; NULL for NULL. */
static inline const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}
