#include "base/files/installed.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

int installed_find(const char *name, char **path, struct error *err)
{
	/* Build tree (build/bin), installation (bin, lib/raddle), and Debian's multiarch folder. */
	static const char *const folders[] = {
		"../lib/raddle",
		"../lib/x86_64-linux-gnu/raddle",
		RADDLE_LIBDIR "/raddle",
	};
	char command[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", command, sizeof command - 1);

	if (length < 0)
		return error_set(err, ERROR_MISSING, "/proc is not mounted; raddle needs it");
	command[length] = '\0';
	*strrchr(command, '/') = '\0';
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
		STRBUF_SCOPED candidate = STRBUF_EMPTY;

		if (folders[i][0] != '/')
			strbuf_addf(&candidate, "%s/", command);
		strbuf_addf(&candidate, "%s/%s", folders[i], name);
		*path = realpath(candidate.text, NULL);
		if (*path)
			return 0;
	}
	return error_set(err, ERROR_MISSING, "%s is not in %s/../lib/raddle; install raddle again",
		name, command);
}
