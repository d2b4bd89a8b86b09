/*
 * Starts a target by vfork and exec. The child has a process group of its own, dies with the
 * command, has no address-space randomisation and writes no core file.
 */
#pragma once

#include <sys/types.h>

#include "base/error.h"
#include "process/private_network.h"
#include "process/target.h"

struct launch {
	const char *path;
	char *const *argv;
	char *const *environment;
	const char *directory;		 /* working folder; NULL means the command's */
	int input, output, error_output; /* become descriptors 0, 1 and 2 */
	/* the network that the target gets; NULL means the command's */
	const struct private_network *network;
};

/* Starts the target. Returns its process id, or a negative error code. */
pid_t launch_process(const struct launch *launch, struct error *err);

/* Returns the command's environment, with `runtime` (may be NULL) first in LD_PRELOAD, and with
 * RADDLE_CONTRACT. */
char **launch_environment(
	const struct target_traits *traits, const char *runtime, const char *contract_path);
void launch_environment_free(char **environment);

/* Returns the exit status of a run with a sanitizer's report: that of TSan, also used for ASan. 0:
 * no sanitizer. */
int launch_sanitizer_status(const struct target_traits *traits);

/* Finds libraddle.so, and the libraries beside it, in a build or an installation. The caller frees
 * *path. */
int launch_find_runtime(char **path, struct error *err);
