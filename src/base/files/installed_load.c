#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/files/installed.h"

int installed_load(const struct installed_library *library, void *entry, struct error *err)
{
	char *path;
	void *loaded, *symbol;
	int status = installed_find(library->name, &path, err);

	if (status < 0)
		return status;
	loaded = dlopen(path, RTLD_NOW | library->scope);
	free(path);
	if (!loaded)
		return error_set(err, ERROR_MISSING, "cannot load %s (%s); install %s",
			library->name, dlerror(), library->packages);
	symbol = dlsym(loaded, library->entry);
	if (!symbol)
		return error_set(err, ERROR_VERSION,
			"%s is of another raddle; install raddle again", library->name);
	/* POSIX, unlike ISO C, allows this conversion to a function pointer. */
	memcpy(entry, &symbol, sizeof symbol);
	return 0;
}
