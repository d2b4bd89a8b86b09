#include "parallel/remote/link.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/installed.h"

#define LIBRARY "libraddle-mpi.so"

int link_open(const struct link **link, struct error *err)
{
	link_entry *entry;
	char *path;
	void *library;

	if (installed_find(LIBRARY, &path, NULL))
		return error_set(err, ERROR_MISSING,
			"this raddle was built without MPI; install libopenmpi-dev and build it again, "
			"or use --shard and raddle merge");
	/* RTLD_GLOBAL: MPI's plugins use its symbols. */
	library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
	free(path);
	if (!library)
		return error_set(err, ERROR_MISSING,
			"cannot load %s (%s); install the packages openmpi-bin and libopenmpi3",
			LIBRARY, dlerror());
	/* ISO C has no conversion from void * to a function pointer; POSIX has. */
	*(void **)&entry = dlsym(library, LINK_ENTRY);
	if (!entry)
		return error_set(err, ERROR_VERSION,
			"%s is of another raddle; install raddle again", LIBRARY);
	*link = entry(err);
	return *link ? 0 : err->code;
}
