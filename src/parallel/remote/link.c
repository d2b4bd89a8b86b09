#include "parallel/remote/link.h"

#include <dlfcn.h>
#include <stdlib.h>

#include "base/files/installed.h"

int link_open(const struct link **link, struct error *err)
{
	/* RTLD_GLOBAL: MPI's plugins use its symbols. */
	static const struct installed_library library = {"libraddle-mpi.so",
		"the packages openmpi-bin and libopenmpi3", LINK_ENTRY, RTLD_GLOBAL};
	link_entry *entry;
	char *path;

	if (installed_find(library.name, &path, NULL))
		return error_set(err, ERROR_MISSING,
			"this raddle was built without MPI; install libopenmpi-dev and build it again, or use --shard and raddle merge");
	free(path);
	if (installed_load(&library, &entry, err) < 0)
		return err->code;
	*link = entry(err);
	return *link ? 0 : err->code;
}
